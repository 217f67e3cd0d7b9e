package sqlstore_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// TestAcknowledgedAfterTheCommit: nobody is told that a record is written before
// the batch with it is.
func TestAcknowledgedAfterTheCommit(t *testing.T) {
	for name, outcome := range map[string]error{"committed": nil, "not committed": errors.New("disk is full")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				commit := make(chan error)
				s := open(t, &fake{write: func(context.Context, []string) ([]string, error) { return nil, <-commit }})
				told := make(chan error, 1)
				go func() { told <- s.Create(t.Context(), record("a")) }()
				synctest.Wait()
				select {
				case err := <-told:
					t.Errorf("told before the commit: %v", err)
				default:
				}
				commit <- outcome
				if err := <-told; !errors.Is(err, outcome) {
					t.Errorf("told %v, want %v", err, outcome)
				}
				s.Close()
			})
		})
	}
}

// TestUnknownOutcomeIsNotHalved: a database may not know its own error. Whatever it
// is taken for, a batch that may be there is not written again in parts.
func TestUnknownOutcomeIsNotHalved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		lost := errors.New("commit got no answer")
		f := &fake{write: func(_ context.Context, ids []string) ([]string, error) {
			g.hold()
			if ids[0] == "first" {
				return nil, nil
			}
			return nil, lost
		}}
		s := open(t, f)
		for _, err := range gathered(t, s, g, creating(t, s, "a", "b")...) {
			if !errors.Is(err, lost) {
				t.Errorf("got %v", err)
			}
		}
		if n := len(f.seen()); n != 2 {
			t.Errorf("%d batches, want 2", n)
		}
		s.Close()
	})
}
