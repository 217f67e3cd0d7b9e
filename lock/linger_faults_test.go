package lock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestTryLockWhileWhatLingeredIsGivenBack: nobody has the lock, and Unlock has returned long ago.
func TestTryLockWhileWhatLingeredIsGivenBack(t *testing.T) {
	inHousehold(t, nil, func(t *testing.T, h *household) {
		h.way.set(hooks{release: func(ctx context.Context, g driver.Grant) (int, error) {
			time.Sleep(2 * time.Millisecond) // a round trip
			return h.way.Backend.Release(ctx, g)
		}})
		time.Sleep(lingerTime + time.Millisecond) // the timer has begun to give it back
		lease, err := h.locks.Mutex("a", nil).TryLock(t.Context())
		if err != nil {
			t.Fatalf("nobody has it, nobody wants it: %v", err)
		}
		mustUnlock(t, lease)
	})
}

// TestTryLockBehindWhoWaitsForWhatLingered is refused at once: the lock is that one's next.
func TestTryLockBehindWhoWaitsForWhatLingered(t *testing.T) {
	inHousehold(t, nil, func(t *testing.T, h *household) {
		h.way.set(hooks{release: func(ctx context.Context, g driver.Grant) (int, error) {
			time.Sleep(2 * time.Millisecond) // a round trip
			return h.way.Backend.Release(ctx, g)
		}})
		time.Sleep(lingerTime + time.Millisecond) // the timer has begun to give it back
		got := make(chan *lock.Lease)
		go func() { got <- mustLock(t, h.locks.Mutex("a", nil)) }()
		synctest.Wait()
		start := time.Now()
		if _, err := h.locks.Mutex("a", nil).TryLock(t.Context()); !errors.Is(err, lock.ErrHeld) {
			t.Errorf("somebody is about to have it: %v", err)
		}
		wantEqual(t, "tried for", time.Since(start), 0)
		mustUnlock(t, <-got)
	})
}

// TestALockLingersNoLongerInAll: "100 ms after it was granted in any case".
func TestALockLingersNoLongerInAll(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		locks := open(t, memlock.NewBackend(store), &lock.Options{Linger: 100 * time.Millisecond})
		other := open(t, memlock.NewBackend(store), nil)
		for range 2 {
			mustUnlock(t, mustLock(t, locks.Mutex("a", nil)))
		}
		time.Sleep(time.Millisecond)
		lease := mustLock(t, locks.Mutex("a", nil))
		start := time.Now()
		time.Sleep(99 * time.Millisecond)
		mustUnlock(t, lease)
		time.Sleep(2 * time.Millisecond) // 101 ms
		synctest.Wait()
		for {
			info, err := other.Inspect(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			if !info.Held() {
				break
			}
			time.Sleep(time.Millisecond)
			synctest.Wait()
		}
		if d := time.Since(start); d > 102*time.Millisecond {
			t.Errorf("nobody held it, and it was still there %s after it was granted", d)
		}
	})
}

// TestLingerSwitchesHandOffOn: HandOff.Count -1 switches local hand-off off, also where locks linger.
func TestLingerSwitchesHandOffOn(t *testing.T) {
	virtual(t, func(t *testing.T) {
		way := &mailbox{faulty: newFaulty(memlock.NewStore(nil))}
		locks := open(t, way, &lock.Options{Linger: lingerTime, HandOff: lock.HandOff{Count: -1}})
		m := locks.Mutex("a", nil)
		for range 3 {
			mustUnlock(t, mustLock(t, m))
		}
		lease := mustLock(t, m)
		next := lockLater(t, t.Context(), m)
		synctest.Wait()
		before := way.acquires.Load()
		mustUnlock(t, lease)
		got := granted(t, next)
		if way.acquires.Load() == before || got.Owner() == lease.Owner() {
			t.Error("it was passed on locally, though hand-off is off")
		}
		mustUnlock(t, got)
	})
}

// TestTakenWhileItIsGranted: the message is here before the grant's answer is.
func TestTakenWhileItIsGranted(t *testing.T) {
	inHousehold(t, nil, func(t *testing.T, h *household) {
		time.Sleep(lingerTime)
		synctest.Wait()
		h.way.set(hooks{acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
			g, err := h.way.Backend.Acquire(ctx, req)
			h.way.heal()
			if held, err := h.other.ForceRelease(ctx, "a"); !held || err != nil {
				t.Error(held, err)
			}
			return g, err
		}})
		lease := mustLock(t, h.locks.Mutex("a", nil))
		_, err := h.other.Mutex("a", nil).TryLock(t.Context())
		wantHeldBy(t, err, "a", lease.Owner()) // it was asked for once more
		mustUnlock(t, lease)
	})
}

// TestWhatLingersIsGivenToWhoHasGone: what a Lock does whose context has ended must not depend on that.
func TestWhatLingersIsGivenToWhoHasGone(t *testing.T) {
	inHousehold(t, nil, func(t *testing.T, h *household) {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_, errFree := h.locks.Mutex("free", nil).Lock(ended)
		lease, err := h.locks.Mutex("a", nil).Lock(ended)
		if (errFree == nil) != (err == nil) {
			t.Errorf("free: %v, lingering: %v", errFree, err)
		}
		if err == nil {
			mustUnlock(t, lease)
		}
	})
}

// TestTryLockWaitsForTwoAnswers: it waits for one, for half of the patience, but 5 s at most.
func TestTryLockWaitsForTwoAnswers(t *testing.T) {
	inHousehold(t, nil, func(t *testing.T, h *household) {
		h.way.freeze()
		defer h.way.heal()
		h.way.tell(driver.Message{Kind: driver.Missed}) // or: it wants another TTL
		start := time.Now()
		_, err := h.locks.Mutex("a", nil).TryLock(t.Context())
		if d := time.Since(start); d > 6*time.Second {
			t.Errorf("it waited for %s: %v", d, err)
		}
	})
}

// TestWhatIsRefusedDoesNotComeBack: who is refused does not have the name, and whoever has it wanted it.
func TestWhatIsRefusedDoesNotComeBack(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		locks := open(t, memlock.NewBackend(store), &lock.Options{Linger: lingerTime})
		other := open(t, memlock.NewBackend(store), nil)
		theirs := mustLock(t, other.Mutex("a", nil))
		for range 3 {
			_, err := locks.Mutex("a", nil).TryLock(t.Context())
			wantErr(t, err, lock.ErrHeld)
			time.Sleep(time.Millisecond)
		}
		mustUnlock(t, theirs)
		mustUnlock(t, mustLock(t, locks.Mutex("a", nil)))
		again, err := other.Mutex("a", nil).TryLock(t.Context())
		if err != nil {
			t.Fatalf("nobody has it: %v", err)
		}
		mustUnlock(t, again)
	})
}

// TestStopTellsWhatLingered: what is still being given back when its time is over is not known to be free.
func TestStopTellsWhatLingered(t *testing.T) {
	inHousehold(t, nil, func(t *testing.T, h *household) {
		h.way.set(hooks{release: func(ctx context.Context, _ driver.Grant) (int, error) {
			<-ctx.Done()
			time.Sleep(100 * time.Millisecond) // as long as a backend may take to return
			return 0, errDown
		}})
		time.Sleep(lingerTime + time.Millisecond) // the timer has begun to give it back
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		wantText(t, h.locks.Stop(ctx), `not known to be released: "a"`)
		time.Sleep(time.Second) // until all has returned
	})
}
