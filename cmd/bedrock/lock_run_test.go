package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestTheProgramNamesItselfAsTheHolder: its request was broken off, and granted all the same.
func TestTheProgramNamesItselfAsTheHolder(t *testing.T) {
	b, err := lockurl.New("mem:")
	if err != nil {
		t.Fatal(err)
	}
	session, err := b.Open(lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Stop(context.Background())
	if _, err := session.Mutex("a", nil).Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	refusal := &lock.HeldError{Name: "a", Owner: "another"}
	want := `lock "a": held by ` + driver.PublicOwner("another") // the owner is the key to the release
	if err := whyNot(t.Context(), session, "a", refusal); err == nil || err.Error() != want {
		t.Errorf("told as %v", err)
	}
}

// TestWhoHasTheLockIsAskedOfASilentBackend: what it said before must do.
func TestWhoHasTheLockIsAskedOfASilentBackend(t *testing.T) {
	b, err := lockurl.New("mem:")
	if err != nil {
		t.Fatal(err)
	}
	session, err := b.Open(lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, refusal := range []error{
		&lock.HeldError{Name: "a", Owner: "another"}, &lock.HeldError{Name: "a", Owner: "another\x1b[2J"},
		errors.New("no answer"),
	} {
		err := whyNot(t.Context(), session, "a", refusal)
		if !errors.Is(err, refusal) || strings.Contains(err.Error(), "another") {
			t.Errorf("told as %v", err)
		}
	}
}
