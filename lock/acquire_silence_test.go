package lock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestWhoHasWaitedInTheQueueIsToldThatItIsHeld: when the one at the front goes, the next ones ask with next to no
// time left. What was known before is known still.
func TestWhoHasWaitedInTheQueueIsToldThatItIsHeld(t *testing.T) {
	for name, hold := range map[string]func(t *testing.T, here, elsewhere *lock.Client) string{
		"by another process": func(t *testing.T, _, elsewhere *lock.Client) string {
			return mustLock(t, elsewhere.Mutex("a", nil)).Owner()
		},
		"by this one until now": func(t *testing.T, here, _ *lock.Client) string {
			lease := mustLock(t, here.Mutex("a", &lock.MutexOptions{TTL: time.Minute})) // not what the others want
			time.AfterFunc(time.Second-time.Millisecond/2, func() { mustUnlock(t, lease) })
			return ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				store := memlock.NewStore(nil)
				backend := newFaulty(store)
				backend.set(hooks{acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
					if !sleep.For(ctx, time.Millisecond) { // a round trip
						return driver.Grant{}, ctx.Err()
					}
					return backend.Backend.Acquire(ctx, req)
				}})
				here, elsewhere := open(t, backend, nil), open(t, memlock.NewBackend(store), nil)
				owner := hold(t, here, elsewhere)
				var waits []<-chan outcome
				for range 20 {
					mutex := here.Mutex("a", &lock.MutexOptions{Wait: time.Second})
					waits = append(waits, lockLater(t, t.Context(), mutex))
				}
				for _, w := range waits {
					wantHeldBy(t, (<-w).err, "a", owner)
				}
			})
		})
	}
}

// TestWhoWaitsForASilentBackendKnowsNothing: not even that the lock is held, whoever has asked; and whoever is
// behind. Others come and go meanwhile, so that there is a queue at all times.
func TestWhoWaitsForASilentBackendKnowsNothing(t *testing.T) {
	for name, patient := range map[string]time.Duration{"one at the front": 4 * time.Second, "all at the front": 0} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				hanging, locks, other := frozen(t, 0)
				hanging.Thaw()
				mustLock(t, other.Mutex("a", nil))
				wait := func(d time.Duration) <-chan outcome {
					return lockLater(t, t.Context(), locks.Mutex("a", &lock.MutexOptions{Wait: d}))
				}
				first := wait(100 * time.Millisecond)
				synctest.Wait() // it is refused
				hanging.Freeze()
				var longest <-chan outcome
				if patient > 0 {
					longest = wait(patient)
				}
				var waits []<-chan outcome
				for range 30 {
					waits = append(waits, wait(200*time.Millisecond))
					time.Sleep(100 * time.Millisecond)
				}
				wantErr(t, (<-first).err, lock.ErrHeld)
				for _, w := range waits[:5] {
					wantErr(t, (<-w).err, lock.ErrHeld)
				}
				for _, w := range append(waits[15:], longest) {
					if w == nil {
						continue
					}
					got := <-w
					wantErr(t, got.err, driver.ErrUnavailable)
					if errors.Is(got.err, lock.ErrHeld) {
						t.Errorf("nobody knows whether it is held: %v", got.err)
					}
				}
			})
		})
	}
}
