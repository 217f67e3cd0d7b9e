package lock_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestARequestUnderWayIsForgotten: the first request goes on in this process, and may be granted yet,
// whatever was answered to others since, and however long ago its owner was given up.
func TestARequestUnderWayIsForgotten(t *testing.T) {
	refused := &driver.HeldError{Owner: "other", TTL: 10 * time.Second}
	for name, test := range map[string]struct {
		spent   bool // its owner is given up
		tooLate bool // the second one is granted when its time is over
	}{
		"same owner": {}, "owner given up": {spent: true}, "granted too late": {tooLate: true},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				backend := newFaulty(nil)
				locks := open(t, backend, &lock.Options{TTL: time.Second})
				calls, ended := 0, make(chan struct{})
				left := &driver.UnderwayError{Err: errors.New("left"), Ended: ended}
				backend.set(hooks{acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
					calls++
					switch {
					case calls == 1 && test.spent:
						return driver.Grant{}, driver.Spent(left)
					case calls == 1:
						return driver.Grant{}, left
					case calls == 2 && test.tooLate:
						grant, err := backend.Backend.Acquire(ctx, req)
						time.Sleep(1100 * time.Millisecond)
						return grant, err
					}
					return driver.Grant{}, refused
				}})
				_, err := locks.Mutex("a", &lock.MutexOptions{Wait: 15 * time.Second}).Lock(t.Context())
				ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
				defer cancel()
				calls = 0
				_, ctxErr := locks.Mutex("b", nil).Lock(ctx)
				if !lock.MaybeApplied(err) || !lock.MaybeApplied(ctxErr) {
					t.Errorf("a request is under way: %v; %v", err, ctxErr)
				}
				close(ended)
			})
		})
	}
}

// TestARequestUnderWayIsGrantedAfterARefusal: the wait ends between the two.
func TestARequestUnderWayIsGrantedAfterARefusal(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		backend := newFaulty(store)
		locks, other := open(t, backend, nil), open(t, memlock.NewBackend(store), nil)
		held := mustLock(t, other.Mutex("a", nil))
		backend.set(hooks{
			acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
				if backend.acquires.Load() > 1 {
					return backend.Backend.Acquire(ctx, req)
				}
				return driver.Await(ctx, func() (driver.Grant, error) {
					time.Sleep(9 * time.Second)
					return backend.Backend.Acquire(context.WithoutCancel(ctx), req)
				})
			},
			release: func(ctx context.Context, _ driver.Grant) (int, error) {
				<-ctx.Done()
				return 0, ctx.Err()
			},
		})
		_, err := locks.Mutex("a", &lock.MutexOptions{Wait: 8990 * time.Millisecond}).Lock(t.Context())
		mustUnlock(t, held)
		time.Sleep(11 * time.Millisecond)
		wantGrantTold(t, other, err)
		backend.heal()
	})
}

// TestADoubtOutlivesItsAnswer: the store has said that the owner has nothing, and nothing has happened since.
func TestADoubtOutlivesItsAnswer(t *testing.T) {
	for name, last := range map[string]error{"unavailable": driver.ErrUnavailable, "refused": driver.ErrRefused} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				backend := newFaulty(nil)
				locks := open(t, backend, nil)
				calls := 0
				backend.set(hooks{acquire: func(context.Context, driver.Request) (driver.Grant, error) {
					switch calls++; calls {
					case 1:
						return driver.Grant{}, errors.New("the connection is broken")
					case 2, 3:
						return driver.Grant{}, &driver.HeldError{Owner: "other", TTL: 20 * time.Second}
					}
					return driver.Grant{}, fmt.Errorf("%w: loading", last)
				}})
				_, err := locks.Mutex("a", nil).Lock(t.Context())
				if !errors.Is(err, last) || lock.MaybeApplied(err) {
					t.Errorf("after %d calls: %v", calls, err)
				}
			})
		})
	}
}

// TestADoubtIsTakenForThatOfAnother: the context has ended because another lock was left in doubt.
func TestADoubtIsTakenForThatOfAnother(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		backend.set(hooks{acquire: failAcquire(errors.New("broken"))})
		_, cause := locks.Mutex("b", nil).TryLock(t.Context())
		wantEqual(t, "b may have been had", lock.MaybeApplied(cause), true)
		backend.heal()
		held := mustLock(t, locks.Mutex("a", nil))
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		_, err := locks.Mutex("a", nil).Lock(ctx)
		wantErr(t, err, context.Canceled)
		wantErr(t, err, cause)
		wantEqual(t, "a may have been had", lock.MaybeApplied(err), false)
		mustUnlock(t, held)
	})
}
