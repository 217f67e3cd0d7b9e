package main

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/backendurl"
	"github.com/bedrock-go/bedrock/lock"
)

// TestTheProgramNamesItselfAsTheHolder: its request was broken off, and granted all the same.
func TestTheProgramNamesItselfAsTheHolder(t *testing.T) {
	b, err := backendurl.New("mem:")
	if err != nil {
		t.Fatal(err)
	}
	session, err := b.Open(lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close(context.Background())
	if _, err := session.Mutex("a", nil).Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	noAnswer := fmt.Errorf("no answer: %w", context.DeadlineExceeded)
	err = whyNot(t.Context(), session, "a", noAnswer)
	if errors.Is(err, lock.ErrHeld) || !errors.Is(err, noAnswer) {
		t.Errorf("told as %v", err)
	}
}
