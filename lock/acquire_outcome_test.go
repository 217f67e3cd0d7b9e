package lock_test

import (
	"context"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestTheFrontIsWrittenByOneWhoHasLeftIt: a lock that is lost as soon as it was had brings the next
// one to the front, who writes the same. Seen with -race.
func TestTheFrontIsWrittenByOneWhoHasLeftIt(t *testing.T) {
	backend := newFaulty(nil)
	locks := open(t, backend, &lock.Options{TTL: time.Second})
	backend.set(hooks{acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
		time.Sleep(100 * time.Millisecond) // so that the second is in the queue before the first has the lock
		return backend.Backend.Acquire(ctx, req)
	}})
	m := locks.Mutex("a", &lock.MutexOptions{Fixed: true})
	first := make(chan *lock.Lease, 1)
	go func() {
		lease, _ := m.Lock(context.Background())
		time.Sleep(3 * time.Second) // it does nothing with the lease, and it is lost
		first <- lease
	}()
	time.Sleep(20 * time.Millisecond)
	second := mustLock(t, m)
	mustUnlock(t, second)
	<-first
}

// TestALockThatWasGrantedIsToldAsCertainlyNot: whatever breaks a request off, its outcome is unknown,
// and the lock is held until the clean-up has been answered.
func TestALockThatWasGrantedIsToldAsCertainlyNot(t *testing.T) {
	limited := func(t *testing.T) context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		t.Cleanup(cancel)
		return ctx
	}
	for name, fail := range map[string]func(t *testing.T, locks *lock.Client) error{
		"Lock, context over": func(t *testing.T, locks *lock.Client) error {
			_, err := locks.Mutex("a", nil).Lock(limited(t))
			return err
		},
		"TryLock, context over": func(t *testing.T, locks *lock.Client) error {
			_, err := locks.Mutex("a", nil).TryLock(limited(t))
			return err
		},
		"Lock, Wait over": func(t *testing.T, locks *lock.Client) error {
			_, err := locks.Mutex("a", &lock.MutexOptions{Wait: time.Second}).Lock(t.Context())
			return err
		},
		"Lock, client stopped": func(t *testing.T, locks *lock.Client) error {
			done := lockLater(t, t.Context(), locks.Mutex("a", nil))
			_ = locks.Stop(limited(t))
			return (<-done).err
		},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				store := memlock.NewStore(nil)
				backend := newFaulty(store)
				locks, other := open(t, backend, nil), open(t, memlock.NewBackend(store), nil)
				backend.set(hooks{
					acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) { // the answer is lost
						_, _ = backend.Backend.Acquire(ctx, req)
						<-ctx.Done()
						return driver.Grant{}, ctx.Err()
					},
					release: func(ctx context.Context, _ driver.Grant) (int, error) {
						<-ctx.Done()
						return 0, ctx.Err()
					},
				})
				err := fail(t, locks)
				wantGrantTold(t, other, err)
				backend.heal()
			})
		})
	}
}
