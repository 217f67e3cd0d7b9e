package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestTheProgramNamesItselfAsTheHolder: its request was broken off, and granted all the same.
func TestTheProgramNamesItselfAsTheHolder(t *testing.T) {
	session := openMemory(t)
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
	session := openMemory(t)
	if err := session.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, refusal := range []error{
		&lock.HeldError{Name: "a", Owner: "another"}, &lock.HeldError{Name: "a", Owner: "another\x1b[2J"},
		&lock.HeldError{Name: "a", Owner: "another", Waits: true},
		errors.New("no answer"),
	} {
		err := whyNot(t.Context(), session, "a", refusal)
		if !errors.Is(err, refusal) || strings.Contains(err.Error(), "another") {
			t.Errorf("told as %v", err)
		}
	}
}

// TestTheProgramKnowsItsPlaceInLine: while it waits, and when it has waited in vain, also for a lock that nobody has.
func TestTheProgramKnowsItsPlaceInLine(t *testing.T) {
	session := openMemory(t)
	defer session.Stop(context.Background())
	fair := session.Mutex("a", &lock.MutexOptions{Fair: true})
	if _, err := fair.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		_, _ = fair.Lock(ctx)
	}()
	defer func() { cancel(); <-waited }()
	var (
		info lock.Info
		err  error
	)
	for len(info.Line) == 0 {
		if info, err = session.Inspect(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
	said := printedBy(t, func(s *system) error { s.sayWaiting(t.Context(), session, "a", nil); return nil })
	if want := "bedrock: waiting for lock \"a\", place 1 in line\n"; said != want {
		t.Errorf("said %q, want %q", said, want)
	}
}

// TestWhyNotTellsThePlace where the program stood when it gave up, and who goes first.
func TestWhyNotTellsThePlace(t *testing.T) {
	refusal := &lock.HeldError{Name: "a", Owner: "another", Place: 2}
	holder := lock.Holder{Owner: "holds", Meta: map[string]string{"host": "web-1", "pid": "7"}}
	first := lock.InLine{Owner: "first", Meta: map[string]string{"host": "web-2", "pid": "8"}}
	for want, info := range map[string]lock.Info{
		`lock "a": held by ` + driver.PublicOwner("holds") + `, place 2 in line, holder web-1/7`: {
			Name: "a", Holders: []lock.Holder{holder}, Line: []lock.InLine{first},
		},
		`lock "a": held by ` + driver.PublicOwner("raw") + `, place 2 in line, with 12s left of its lease`: {
			Name: "a", Holders: []lock.Holder{{Owner: "raw", TTL: 12 * time.Second}},
		},
		`lock "a": kept for ` + driver.PublicOwner("first") + `, who waits, place 2 in line, web-2/8`: {
			Name: "a", Line: []lock.InLine{first},
		},
		`lock "a": held until a moment ago`: {Name: "a"},
	} {
		if err := whyNotGiven(info, refusal); err == nil || err.Error() != want || !errors.Is(err, lock.ErrHeld) {
			t.Errorf("told as %v, want %s", err, want)
		}
	}
}

// TestWhyNotHidesAWriterWhoWaits behind the readers that hold the lock, who are in nobody's way. A writer that has it
// by now is told as its holder.
func TestWhyNotHidesAWriterWhoWaits(t *testing.T) {
	refusal := &lock.HeldError{Name: "a", Owner: "writer", Waits: true, Until: time.Now()}
	for want, holder := range map[string]string{
		`lock "a": kept for ` + driver.PublicOwner("writer") + `, who waits`: "reader",
		`lock "a": held by ` + driver.PublicOwner("writer"):                  "writer",
	} {
		info := lock.Info{Name: "a", Holders: []lock.Holder{{Owner: holder}}}
		err := whyNotGiven(info, fmt.Errorf("told before: %w", refusal))
		if err == nil || err.Error() != want || !errors.Is(err, lock.ErrHeld) {
			t.Errorf("told as %v, want %s", err, want)
		}
	}
}

// TestAHolderIsTold with what is known of it: one of another library may have nothing to say.
func TestAHolderIsTold(t *testing.T) {
	raw := driver.PublicOwner("raw")
	known := map[string]string{"host": "web-1", "pid": "7"}
	minute := time.Now().Add(-time.Minute)
	for want, holders := range map[string][]lock.Holder{
		"holder " + raw: {{Owner: "raw"}},
		"holder " + raw + ", with 12s left of its lease, and 1 more": {{Owner: "raw", TTL: 12 * time.Second}, {}},
		"holder " + raw + ", whose lease never ends":                 {{Owner: "raw", TTL: -1}},
		"holder " + raw + ", for 1m0s":                               {{Owner: "raw", Since: minute}},
		"holder web-1/7":                                             {{Owner: "ours", Meta: known}},
	} {
		if view := (&lockView{lock.Info{Name: "a", Holders: holders}}); view.heldBy() != want {
			t.Errorf("told as %q, want %q", view.heldBy(), want)
		}
	}
}

// openMemory returns a client of a store in memory; the test stops it.
func openMemory(t *testing.T) *lockurl.Session {
	t.Helper()
	b, err := lockurl.New("mem:")
	if err != nil {
		t.Fatal(err)
	}
	session, err := b.Open(lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return session
}
