package lock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// failure is one way for a call to fail, and how its error reads and compares.
type failure struct {
	name     string
	provoke  func(t *testing.T, locks *lock.Client, backend *faulty) error
	matches  error
	text     string
	mayApply bool
}

func failures() []failure {
	return []failure{
		{"held", provokeHeld, lock.ErrHeld, `lock "a": held by `, false},
		{"lost by the clock", provokeExpiry, lock.ErrLost, `lock "a": unlock: lost: not renewed in time`, false},
		{
			"taken away", provokeTheft, lock.ErrLost,
			`lock "a": lease: lost: it was taken away by force`, false,
		},
		{"released", provokeSecondUnlock, lock.ErrReleased, `lock "a": unlock: already released`, false},
		{"closed", provokeClosed, lock.ErrClosed, `lock "a": lock: client is stopped`, false},
		{"invalid", provokeInvalid, lock.ErrInvalid, "name: is empty", false},
		{"refused", provokeAcquire(driver.ErrRefused), driver.ErrRefused, `lock "a": acquire: refused`, false},
		{
			"unsupported", provokeAcquire(driver.ErrUnsupported), lock.ErrUnsupported, `lock "a": acquire: unsupported`,
			false,
		},
		{
			"no answer", provokeAcquire(errMute), errMute,
			`lock "a": acquire: connection reset (it may have taken effect)`, true,
		},
		{
			"unlock without answer", provokeUnlock, errMute,
			`lock "a": unlock goes on in the background: connection reset (it may have taken effect)`, true,
		},
	}
}

func TestErrorsCompareAndRead(t *testing.T) {
	sentinels := []error{
		lock.ErrHeld, lock.ErrLost, lock.ErrReleased, lock.ErrClosed, lock.ErrInvalid,
		lock.ErrUnsupported,
	}
	for _, test := range failures() {
		t.Run(test.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				backend := newFaulty(nil)
				err := test.provoke(t, open(t, backend, &lock.Options{Patience: -1}), backend)
				backend.heal()
				wantErr(t, err, test.matches)
				wantText(t, err, test.text)
				wantEqual(t, "may have been applied", lock.MaybeApplied(err), test.mayApply)
				for _, other := range sentinels {
					if !errors.Is(test.matches, other) && errors.Is(err, other) {
						t.Errorf("%v also matches %v", err, other)
					}
				}
			})
		})
	}
}

func provokeHeld(t *testing.T, locks *lock.Client, _ *faulty) error {
	mustLock(t, locks.Mutex("a", nil))
	_, err := locks.Mutex("a", nil).TryLock(t.Context())
	return err
}

func provokeExpiry(t *testing.T, locks *lock.Client, backend *faulty) error {
	lease := mustLock(t, locks.Mutex("a", nil))
	backend.suspend(time.Hour)
	return lease.Unlock(t.Context())
}

func provokeTheft(t *testing.T, locks *lock.Client, _ *faulty) error {
	lease := mustLock(t, locks.Mutex("a", nil))
	_, err := locks.ForceRelease(t.Context(), "a")
	wantErr(t, err, nil)
	<-lease.Context().Done()
	return lease.Err()
}

func provokeSecondUnlock(t *testing.T, locks *lock.Client, _ *faulty) error {
	lease := mustLock(t, locks.Mutex("a", nil))
	mustUnlock(t, lease)
	return lease.Unlock(t.Context())
}

func provokeClosed(t *testing.T, locks *lock.Client, _ *faulty) error {
	closeNow(t, locks)
	_, err := locks.Mutex("a", nil).Lock(t.Context())
	return err
}

func provokeInvalid(t *testing.T, locks *lock.Client, _ *faulty) error {
	_, err := locks.Mutex("", nil).Lock(t.Context())
	return err
}

func provokeAcquire(cause error) func(*testing.T, *lock.Client, *faulty) error {
	return func(t *testing.T, locks *lock.Client, backend *faulty) error {
		backend.fail(cause)
		_, err := locks.Mutex("a", nil).Lock(t.Context())
		return err
	}
}

func provokeUnlock(t *testing.T, locks *lock.Client, backend *faulty) error {
	lease := mustLock(t, locks.Mutex("a", nil))
	backend.fail(errMute)
	return lease.Unlock(t.Context())
}

func TestHeldErrorSaysUntilWhen(t *testing.T) {
	until := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tests := map[string]lock.HeldError{
		`lock "a": held`: {Name: "a"},
		`lock "a": held by me until 2026-01-02T03:04:05Z`: {Name: "a", Owner: "me", Until: until},
		`lock "a": held by "\x1b[2J\nme"`:                 {Name: "a", Owner: "\x1b[2J\nme"},
	}
	for want, err := range tests {
		wantEqual(t, "text", err.Error(), want)
	}
}

func TestNamesOfKindsAndStates(t *testing.T) {
	for want, got := range map[string]lock.State{
		"held": lock.Held, "unconfirmed": lock.Unconfirmed, "lost": lock.Lost, "released": lock.Released,
	} {
		wantEqual(t, "name", got.String(), want)
	}
	for want, got := range map[string]lock.EventKind{
		"queued": lock.EventQueued, "contending": lock.EventContending, "acquired": lock.EventAcquired,
		"left": lock.EventLeft, "renewed": lock.EventRenewed, "lost": lock.EventLost,
	} {
		wantEqual(t, "name", string(got), want)
	}
}

func TestMaybeAppliedIsFalseForOtherErrors(t *testing.T) {
	for _, err := range []error{nil, errWork, context.Canceled, lock.ErrHeld} {
		wantEqual(t, "may have been applied", lock.MaybeApplied(err), false)
	}
}
