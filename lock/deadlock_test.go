package lock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// circle is so many clients of one store.
func circle(t *testing.T, n int) []*lock.Client {
	t.Helper()
	store := memlock.NewStore(nil)
	clients := make([]*lock.Client, n)
	for i := range clients {
		clients[i] = open(t, memlock.NewBackend(store), nil)
	}
	return clients
}

// farCircle has every call take a while: what happens at the same moment is seen by nobody in time.
func farCircle(t *testing.T, n int) []*lock.Client {
	t.Helper()
	store := memlock.NewStore(nil)
	clients := make([]*lock.Client, n)
	for i := range clients {
		b := bedrocktest.NewBackend(memlock.NewBackend(store))
		b.Lag(20 * time.Millisecond)
		clients[i] = open(t, b, nil)
	}
	return clients
}

// both takes a lock, and a moment later another one with the first in hand. It gives back what it has when it is over.
func both(ctx context.Context, first, second lock.Lockable, together <-chan struct{}) error {
	one, err := first.Lock(ctx)
	if err != nil {
		return err
	}
	<-together
	two, err := second.Lock(one.Context())
	if err != nil {
		return errors.Join(err, one.Unlock(ctx))
	}
	return errors.Join(two.Unlock(ctx), one.Unlock(ctx))
}

// TestHoldersWaitForEachOther: one of a circle is told, and the others go on.
func TestHoldersWaitForEachOther(t *testing.T) {
	for _, n := range []int{2, 3, 5} {
		virtual(t, func(t *testing.T) {
			clients := farCircle(t, n)
			names := []string{"a", "b", "c", "d", "e"}[:n]
			together, done := make(chan struct{}), make(chan error, n)
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			for i, c := range clients {
				go func() {
					done <- both(ctx, c.Mutex(names[i], nil), c.Mutex(names[(i+1)%n], nil), together)
				}()
			}
			synctest.Wait()
			start := time.Now()
			close(together)
			var told *lock.DeadlockError
			count := 0
			for range n {
				if err := <-done; errors.As(err, &told) {
					count++
					wantErr(t, err, lock.ErrDeadlock)
					wantEqual(t, "length of the circle", len(told.Cycle), n-1)
				} else if err != nil {
					t.Error(err)
				}
			}
			if told == nil {
				t.Fatal("nobody was told")
			}
			wantEqual(t, "how many are told", count, 1)
			wantText(t, told, "is held by process", `who waits for "`, "which is held here")
			wantBetween(t, "the end of it", time.Since(start), time.Second, 3*time.Second)
		})
	}
}

// TestCircleIsGoneInAMoment: it is one only if it is there still when somebody looks again.
func TestCircleIsGoneInAMoment(t *testing.T) {
	virtual(t, func(t *testing.T) {
		clients := farCircle(t, 2)
		together, done := make(chan struct{}), make(chan error, 2)
		brief, cancel := context.WithTimeout(t.Context(), 1200*time.Millisecond) // it is looked for after a second
		defer cancel()
		for i, ctx := range []context.Context{t.Context(), brief} {
			names := []string{"a", "b"}
			go func() {
				done <- both(ctx, clients[i].Mutex(names[i], nil), clients[i].Mutex(names[1-i], nil), together)
			}()
		}
		synctest.Wait()
		close(together)
		first, last := <-done, <-done
		wantErr(t, first, context.DeadlineExceeded)
		if last != nil {
			t.Errorf("the other one could go on, but %v", last)
		}
	})
}

// TestWaitsAreTakenForACircle: somebody waits for hours, and so does who has what it waits for, but for another.
func TestWaitsAreTakenForACircle(t *testing.T) {
	virtual(t, func(t *testing.T) {
		clients := circle(t, 3)
		last := mustLock(t, clients[2].Mutex("c", nil))
		together, done := make(chan struct{}), make(chan error, 2)
		close(together)
		for i, names := range [][2]string{{"b", "c"}, {"a", "b"}} {
			go func() {
				done <- both(t.Context(), clients[i].Mutex(names[0], nil), clients[i].Mutex(names[1], nil), together)
			}()
			synctest.Wait()
		}
		<-time.After(3 * time.Hour)
		info, err := clients[2].Inspect(t.Context(), "a")
		if err != nil || len(info.Holders) != 1 || len(info.Holders[0].Waits) != 1 || info.Holders[0].Waits[0] != "b" {
			t.Fatalf("who waits does not say so: %+v, %v", info, err)
		}
		wantEqual(t, "metadata", info.Holders[0].Meta["bedrock:waits"], "")
		mustUnlock(t, last)
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

// TestWaitIsOver: what a holder has waited for is not said any more.
func TestWaitIsOver(t *testing.T) {
	virtual(t, func(t *testing.T) {
		clients := circle(t, 2)
		other := mustLock(t, clients[1].Mutex("b", nil))
		lease := mustLock(t, clients[0].Mutex("a", nil))
		ctx, cancel := context.WithTimeout(lease.Context(), time.Minute)
		defer cancel()
		if _, err := clients[0].Mutex("b", nil).Lock(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the wait has ended with %v", err)
		}
		synctest.Wait()
		if info, err := clients[1].Inspect(t.Context(), "a"); err != nil || len(info.Holders[0].Waits) != 0 {
			t.Errorf("it waits no more: %+v, %v", info, err)
		}
		mustUnlock(t, lease)
		mustUnlock(t, other)
	})
}

// TestPermitsMakeNoCircle: any of those who have permits may give some back.
func TestPermitsMakeNoCircle(t *testing.T) {
	virtual(t, func(t *testing.T) {
		clients := circle(t, 3)
		free := mustLock(t, clients[2].Semaphore("s", 2, nil))
		together, done := make(chan struct{}), make(chan error, 2)
		go func() {
			done <- both(t.Context(), clients[0].Semaphore("s", 2, nil), clients[0].Mutex("a", nil), together)
		}()
		go func() {
			done <- both(t.Context(), clients[1].Mutex("a", nil), clients[1].Semaphore("s", 2, nil), together)
		}()
		synctest.Wait()
		close(together)
		<-time.After(time.Hour)
		mustUnlock(t, free)
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

// TestReadersWaitForEachOther: each of two readers wants to write what the other one reads.
func TestReadersWaitForEachOther(t *testing.T) {
	virtual(t, func(t *testing.T) {
		clients := circle(t, 2)
		together, done := make(chan struct{}), make(chan error, 2)
		for i, names := range [][2]string{{"a", "b"}, {"b", "a"}} {
			go func() {
				first, second := clients[i].RWMutex(names[0], nil).Reader(), clients[i].RWMutex(names[1], nil).Writer()
				done <- both(t.Context(), first, second, together)
			}()
		}
		synctest.Wait()
		close(together)
		err := errors.Join(<-done, <-done)
		wantErr(t, err, lock.ErrDeadlock)
	})
}

// TestStoppedWhileItLooksForACircle: nothing is left running.
func TestStoppedWhileItLooksForACircle(t *testing.T) {
	virtual(t, func(t *testing.T) {
		clients := circle(t, 2)
		mustLock(t, clients[1].Mutex("b", nil))
		lease := mustLock(t, clients[0].Mutex("a", nil))
		done := lockLater(t, lease.Context(), clients[0].Mutex("b", nil))
		<-time.After(time.Minute)
		closeNow(t, clients[0])
		if got := <-done; got.err == nil {
			t.Error("it has the lock")
		}
	})
}
