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
