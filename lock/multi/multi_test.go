package multi_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/lock/multi"
)

// TestOneOfThemIsHeld: nothing is had, and the error names what is held.
func TestOneOfThemIsHeld(t *testing.T) {
	virtual(t, func(t *testing.T) {
		all := clients(t, 2)
		other, err := all[1].Mutex("b", nil).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, err = of(all[0], "c", "b", "a").TryLock(t.Context())
		held, ok := errors.AsType[*lock.HeldError](err)
		if !ok || held.Name != "b" {
			t.Errorf("error is %v", err)
		}
		wantHolders(t, all[1], map[string]bool{"a": false, "b": true, "c": false})
		mustUnlock(t, other)
		lease, err := of(all[0], "c", "b", "a").TryLock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wantHolders(t, all[1], map[string]bool{"a": true, "b": true, "c": true})
		mustUnlock(t, lease)
		wantHolders(t, all[1], map[string]bool{"a": false, "b": false, "c": false})
	})
}

// TestWaitsForOneOfThem: those before it are held meanwhile, those after it are free for others.
func TestWaitsForOneOfThem(t *testing.T) {
	virtual(t, func(t *testing.T) {
		all := clients(t, 2)
		other := mustLock(t, of(all[1], "b"))
		done := make(chan *multi.Lease, 1)
		go func() { done <- mustLock(t, of(all[0], "c", "b", "a")) }()
		<-time.After(time.Minute)
		wantHolders(t, all[1], map[string]bool{"a": true, "b": true, "c": false})
		mustUnlock(t, other)
		lease := <-done
		wantHolders(t, all[1], map[string]bool{"a": true, "b": true, "c": true})
		for _, name := range []string{"a", "b", "c"} {
			if of := lease.Of(name); of == nil || of.Name() != name || of.Token() == 0 {
				t.Errorf("lease of %q: %v", name, of)
			}
		}
		mustUnlock(t, lease)
	})
}

// TestWaitEnds: what was had by then is given back.
func TestWaitEnds(t *testing.T) {
	virtual(t, func(t *testing.T) {
		all := clients(t, 2)
		other := mustLock(t, of(all[1], "b"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := of(all[0], "a", "b").Lock(ctx)
		wantErr(t, err, context.DeadlineExceeded)
		wantHolders(t, all[1], map[string]bool{"a": false, "b": true})

		start := time.Now()
		locks := []lock.Lockable{all[0].Mutex("a", nil), all[0].Mutex("b", nil)}
		_, err = multi.New(locks, &multi.Options{Wait: time.Minute}).Lock(t.Context())
		wantErr(t, err, lock.ErrHeld)
		if errors.Is(err, context.Canceled) || time.Since(start) != time.Minute {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
		wantHolders(t, all[1], map[string]bool{"a": false, "b": true})
		held, ok := errors.AsType[*lock.HeldError](err)
		if !ok || held.Owner != other.Leases()[0].Owner() {
			t.Errorf("the holder of b is not in %v", err)
		}
		if want := held.Error() + ": the longest wait has passed"; err.Error() != want {
			t.Errorf("it says %q, want %q", err, want)
		}
		mustUnlock(t, other)
	})
}

// TestOneOfThemIsLost: the context of all ends, and Unlock says of which.
func TestOneOfThemIsLost(t *testing.T) {
	virtual(t, func(t *testing.T) {
		all := clients(t, 2)
		lease := mustLock(t, of(all[0], "a", "b", "c"))
		if _, err := all[1].ForceRelease(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		select {
		case <-lease.Context().Done():
		case <-time.After(time.Minute): // more than a renewal takes
		}
		wantErr(t, context.Cause(lease.Context()), lock.ErrLost)
		wantErr(t, lease.Err(), lock.ErrLost)
		wantErr(t, lease.Unlock(t.Context()), lock.ErrLost)
		wantHolders(t, all[1], map[string]bool{"a": false, "b": false, "c": false})
	})
}

// TestOneIsLostWhileItWaits: it does not go on without it.
func TestOneIsLostWhileItWaits(t *testing.T) {
	virtual(t, func(t *testing.T) {
		all := clients(t, 2)
		other := mustLock(t, of(all[1], "b"))
		done := make(chan error, 1)
		go func() {
			_, err := of(all[0], "a", "b").Lock(t.Context())
			done <- err
		}()
		<-time.After(time.Second)
		if _, err := all[1].ForceRelease(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		wantErr(t, <-done, lock.ErrLost)
		mustUnlock(t, other)
		wantHolders(t, all[1], map[string]bool{"a": false, "b": false})
	})
}

// TestOverlappingSets: many take some of the same locks, in any order that they name them in. Nobody waits for
// ever, and no lock is had by two.
func TestOverlappingSets(t *testing.T) {
	virtual(t, func(t *testing.T) {
		all := clients(t, 3)
		names := []string{"a", "b", "c", "d", "e", "f"}
		var users [6]sync.Mutex
		var work sync.WaitGroup
		for i := range 12 {
			work.Go(func() {
				for range 50 {
					order := rand.Perm(len(names))[:1+rand.IntN(4)]
					members := make([]lock.Lockable, len(order))
					for j, n := range order {
						members[j] = all[i%3].Mutex(names[n], nil)
					}
					lease, err := multi.New(members, nil).Lock(t.Context())
					if err != nil {
						t.Errorf("%v: %v", order, err)
						return
					}
					for _, n := range order {
						if !users[n].TryLock() {
							t.Errorf("%q has two users", names[n])
						}
					}
					<-time.After(time.Duration(rand.IntN(3)) * time.Millisecond)
					for _, n := range order {
						users[n].Unlock()
					}
					mustUnlock(t, lease)
				}
			})
		}
		work.Wait()
	})
}

// TestLocksOfAnyKind: of several stores, and some that no store grants in one step.
func TestLocksOfAnyKind(t *testing.T) {
	virtual(t, func(t *testing.T) {
		one, two := clients(t, 2), clients(t, 2)
		m := func(i int) *multi.Multi {
			return multi.New([]lock.Lockable{
				two[i].Mutex("e", nil), one[i].RWMutex("d", nil).Reader(), one[i].Semaphore("c", 3, nil).Permits(2),
				two[i].Mutex("b", nil), one[i].Mutex("a", &lock.MutexOptions{Fair: true}), two[i].Mutex("f", nil),
			}, nil)
		}
		lease := mustLock(t, m(0))
		_, err := m(1).TryLock(t.Context())
		wantErr(t, err, lock.ErrHeld)
		done := make(chan *multi.Lease, 1)
		go func() { done <- mustLock(t, m(1)) }()
		synctest.Wait()
		mustUnlock(t, lease)
		lease = <-done
		if len(lease.Leases()) != 6 || lease.Err() != nil {
			t.Errorf("%d leases: %v", len(lease.Leases()), lease.Err())
		}
		mustUnlock(t, lease)
	})
}

// TestAnotherOrder: somebody takes two of them one by one, in the other order. One of the two is told, and the other
// goes on.
func TestAnotherOrder(t *testing.T) {
	virtual(t, func(t *testing.T) {
		all := clients(t, 2)
		outer, err := all[1].Mutex("b", nil).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 2)
		go func() {
			lease, err := of(all[0], "a", "b").Lock(t.Context())
			if err == nil {
				err = lease.Unlock(t.Context())
			}
			done <- err
		}()
		synctest.Wait()
		go func() {
			inner, err := all[1].Mutex("a", nil).Lock(outer.Context())
			if err == nil {
				err = inner.Unlock(t.Context())
			}
			done <- errors.Join(err, outer.Unlock(t.Context()))
		}()
		first, second := <-done, <-done
		if errors.Is(first, lock.ErrDeadlock) == errors.Is(second, lock.ErrDeadlock) {
			t.Errorf("one is told: %v and %v", first, second)
		}
	})
}

// TestAnotherOrderOfTwoStores: the circle goes over two stores.
func TestAnotherOrderOfTwoStores(t *testing.T) {
	virtual(t, func(t *testing.T) {
		one, two := clients(t, 2), clients(t, 2)
		together, done := make(chan struct{}), make(chan error, 2)
		nested := func(first, second *lock.Mutex) {
			outer, err := first.Lock(t.Context())
			<-together
			inner, failed := second.Lock(outer.Context())
			if failed == nil {
				failed = inner.Unlock(t.Context())
			}
			done <- errors.Join(err, failed, outer.Unlock(t.Context()))
		}
		go nested(one[0].Mutex("a", nil), two[0].Mutex("b", nil))
		go nested(two[1].Mutex("b", nil), one[1].Mutex("a", nil))
		synctest.Wait()
		close(together)
		wantErr(t, errors.Join(<-done, <-done), lock.ErrDeadlock)
	})
}

// TestRepliesAreLost: whatever becomes of the one request, nothing is left behind.
func TestRepliesAreLost(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		line := bedrocktest.NewBackend(memlock.NewBackend(store))
		locks, other := open(t, line), open(t, memlock.NewBackend(store))
		line.Down()
		_, err := of(locks, "a", "b").TryLock(t.Context())
		wantErr(t, err, driver.ErrUnavailable)
		line.Up()
		<-time.After(time.Minute)
		wantHolders(t, other, map[string]bool{"a": false, "b": false})
		lease := mustLock(t, of(locks, "a", "b"))
		mustUnlock(t, lease)
	})
}

// TestUnsoundArguments: nothing happens.
func TestUnsoundArguments(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := clients(t, 1)[0]
		for what, m := range map[string]*multi.Multi{
			"none":          multi.New(nil, nil),
			"nil":           multi.New([]lock.Lockable{nil}, nil),
			"twice":         of(locks, "a", "b", "a"),
			"name":          of(locks, "a", ""),
			"short wait":    multi.New([]lock.Lockable{locks.Mutex("a", nil)}, &multi.Options{Wait: 1}),
			"permits":       multi.New([]lock.Lockable{locks.Mutex("a", nil), locks.Semaphore("b", 0, nil)}, nil),
			"reader's name": multi.New([]lock.Lockable{locks.Mutex("a", nil), locks.RWMutex("", nil).Reader()}, nil),
		} {
			if _, err := m.Lock(t.Context()); !errors.Is(err, lock.ErrInvalid) {
				t.Errorf("%s: %v", what, err)
			}
			if _, err := m.TryLock(t.Context()); !errors.Is(err, lock.ErrInvalid) {
				t.Errorf("%s: %v", what, err)
			}
		}
		wantHolders(t, locks, map[string]bool{"a": false, "b": false})
	})
}

// TestReentered: who has one of them has the others, too; and a lock of the name goes over what is had.
func TestReentered(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := clients(t, 1)[0]
		outer, err := locks.Mutex("b", nil).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		lease, err := of(locks, "a", "b", "c").Lock(outer.Context())
		if err != nil {
			t.Fatal(err)
		}
		again, err := of(locks, "c", "a").Lock(lease.Context())
		if err != nil {
			t.Fatal(err)
		}
		mustUnlock(t, again)
		mustUnlock(t, lease)
		wantHolders(t, locks, map[string]bool{"a": false, "b": true, "c": false})
		mustUnlock(t, outer)
	})
}

// TestClosureIsDone: Do gives all of it back.
func TestClosureIsDone(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := clients(t, 1)[0]
		failed := errors.New("failed")
		err := multi.Do(t.Context(), of(locks, "a", "b"), func(ctx context.Context, l *multi.Lease) error {
			wantHolders(t, locks, map[string]bool{"a": true, "b": true})
			if ctx != l.Context() {
				t.Error("another context")
			}
			return failed
		})
		wantErr(t, err, failed)
		wantHolders(t, locks, map[string]bool{"a": false, "b": false})
	})
}
