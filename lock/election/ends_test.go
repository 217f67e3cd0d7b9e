package election_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/election"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// Lead runs in the context of another lease, which is unlocked.
func TestLeadEndsWithoutAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locks, err := lock.New(memlock.NewBackend(nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = locks.Stop(context.Background()) }()
		outer, err := locks.Mutex("outer", nil).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Minute, func() { _ = outer.Unlock(context.Background()) })
		err = election.New(locks, "e", nil).Lead(outer.Context(), func(ctx context.Context, _ *election.Term) error {
			<-ctx.Done()
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the context has ended, and Lead ends with %v", err)
		}
	})
}

// A pause for ever, as for who is to lead once.
func TestPauseForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		locks, err := lock.New(memlock.NewBackend(store), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = locks.Stop(context.Background()) }()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("Lead panics: %v", p)
			}
		}()
		e := election.New(locks, "e", &election.Options{Pause: math.MaxInt64, MaxHold: time.Second})
		err = e.Lead(ctx, func(ctx context.Context, _ *election.Term) error {
			<-ctx.Done()
			return nil
		})
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, lock.ErrInvalid) {
			t.Error(err)
		}
	})
}
