package lock_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

const lingerTime = 5 * time.Millisecond

// mailbox is a client's way to a store, on which what it is told can be kept back.
type mailbox struct {
	*faulty
	tell   func(driver.Message)
	closed atomic.Bool
	told   atomic.Int64
}

// Notify implements [driver.Notifier].
func (m *mailbox) Notify(tell func(driver.Message)) {
	m.tell = tell
	m.Backend.Notify(func(message driver.Message) {
		m.told.Add(1)
		if !m.closed.Load() {
			tell(message)
		}
	})
}

// household is a client whose locks linger, and another one.
type household struct {
	*testing.T
	way          *mailbox
	locks, other *lock.Client
}

// inHousehold runs a test in which the lock "a" lingers.
func inHousehold(t *testing.T, observer lock.Observer, test func(t *testing.T, h *household)) {
	t.Helper()
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		h := &household{T: t, way: &mailbox{faulty: newFaulty(store)}}
		h.locks = open(t, h.way, &lock.Options{Linger: lingerTime, Observer: observer})
		h.other = open(t, memlock.NewBackend(store), nil)
		h.use(3) // it comes back
		if h.holder(); h.asked(func() { h.use(1) }) != 0 {
			t.Fatal("it does not linger")
		}
		test(t, h)
	})
}

// use locks and unlocks so often, one right after the other.
func (h *household) use(times int) {
	h.Helper()
	for range times {
		mustUnlock(h.T, mustLock(h.T, h.locks.Mutex("a", nil)))
	}
}

// asked returns how often the backend was asked for something meanwhile.
func (h *household) asked(meanwhile func()) int64 {
	before := h.way.calls()
	meanwhile()
	return h.way.calls() - before
}

// holder returns who has the lock in the store, nobody if it is free.
func (h *household) holder() string {
	h.Helper()
	info, err := h.other.Inspect(h.Context(), "a")
	if err != nil {
		h.Fatal(err)
	}
	if !info.Held() {
		return ""
	}
	wantEqual(h.T, "linger told", info.Holders[0].Linger, lingerTime)
	return info.Holders[0].Owner
}

func TestALockThatComesBackCostsNoRequest(t *testing.T) {
	inHousehold(t, nil, func(t *testing.T, h *household) {
		last := uint64(0)
		if n := h.asked(func() {
			for range 10 {
				lease := mustLock(t, h.locks.Mutex("a", nil))
				if wantEqual(t, "state", lease.State(), lock.Held); lease.Token() <= last {
					t.Errorf("token %d after %d", lease.Token(), last)
				}
				last = lease.Token()
				mustUnlock(t, lease)
				wantEqual(t, "state", lease.State(), lock.Released)
				wantCause(t, lease.Context(), lock.ErrReleased)
				wantErr(t, lease.Unlock(t.Context()), lock.ErrReleased)
				time.Sleep(lingerTime - 1)
			}
		}); n != 0 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestALockLingersNoLonger(t *testing.T) {
	inHousehold(t, nil, func(t *testing.T, h *household) {
		time.Sleep(lingerTime - 1)
		synctest.Wait()
		if h.holder() == "" {
			t.Error("it was given back early")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		wantEqual(t, "holder", h.holder(), "")
		h.use(3) // it has come back late: the habit begins anew
		wantEqual(t, "requests of one pair", h.asked(func() { h.use(1); time.Sleep(time.Second) }), 1)
	})
}

func TestOnlyWhatComesBackLingers(t *testing.T) {
	virtual(t, func(t *testing.T) {
		way := &mailbox{faulty: newFaulty(nil)}
		locks := open(t, way, &lock.Options{Linger: lingerTime})
		for range 10 {
			mustUnlock(t, mustLock(t, locks.Mutex("a", nil)))
			info, err := locks.Inspect(t.Context(), "a")
			if err != nil || info.Held() {
				t.Fatalf("%+v, %v", info, err)
			}
			time.Sleep(lingerTime + 1)
		}
	})
}

// TestALingeringLockIsLetGo: somebody else who wants it has it without waiting, and is known for a while.
func TestALingeringLockIsLetGo(t *testing.T) {
	inHousehold(t, nil, func(t *testing.T, h *household) {
		start := time.Now()
		theirs := mustLock(t, h.other.Mutex("a", nil))
		wantBetween(t, "their wait", time.Since(start), 0, 2*time.Millisecond)
		mustUnlock(t, theirs)
		h.use(5)
		wantEqual(t, "holder", h.holder(), "")
		time.Sleep(time.Second)
		h.use(5)
		if h.holder() == "" {
			t.Error("it does not linger a second later")
		}
	})
}

func TestALockInUseIsGivenBackToWhoWantsIt(t *testing.T) {
	inHousehold(t, nil, func(t *testing.T, h *household) {
		lease := mustLock(t, h.locks.Mutex("a", nil))
		theirs := lockLater(t, t.Context(), h.other.Mutex("a", nil))
		time.Sleep(10 * time.Millisecond)
		wantEqual(t, "state", lease.State(), lock.Held)
		mustUnlock(t, lease)
		start := time.Now()
		mustUnlock(t, granted(t, theirs))
		wantBetween(t, "their wait", time.Since(start), 0, time.Millisecond)
	})
}

// TestNobodyIsToldThatALockIsWanted: those who cannot say so wait for as long as it may linger in all.
func TestNobodyIsToldThatALockIsWanted(t *testing.T) {
	inHousehold(t, nil, func(t *testing.T, h *household) {
		for range 500 { // it has tokens for longer
			h.use(1)
			time.Sleep(time.Millisecond)
		}
		h.way.closed.Store(true)
		theirs := make(chan time.Duration, 1)
		go func() {
			start := time.Now()
			mustUnlock(t, mustLock(t, h.other.Mutex("a", nil)))
			theirs <- time.Since(start)
		}()
		for start := time.Now(); len(theirs) == 0; {
			h.use(1)
			time.Sleep(time.Millisecond)
			if time.Since(start) > time.Minute {
				t.Fatal("they have waited for a minute")
			}
		}
		wantBetween(t, "their wait", <-theirs, 0, 102*time.Millisecond)
	})
}

// TestWhatMayBeWantedUnheard does not come back: its client may have missed that.
func TestWhatMayBeWantedUnheard(t *testing.T) {
	inHousehold(t, nil, func(t *testing.T, h *household) {
		h.way.tell(driver.Message{Kind: driver.Missed})
		before := h.holder()
		wantEqual(t, "requests", h.asked(func() { h.use(1) }), 2) // what lingers is given back before
		if h.holder() == before {
			t.Error("it is the same grant")
		}
	})
}

// TestWantedWhileItIsGranted: the message may be here before the grant is.
func TestWantedWhileItIsGranted(t *testing.T) {
	inHousehold(t, nil, func(t *testing.T, h *household) {
		time.Sleep(lingerTime)
		synctest.Wait()
		h.way.set(hooks{acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
			g, err := h.way.Backend.Acquire(ctx, req)
			h.way.tell(driver.Message{Name: "a", Owner: req.Owner, Kind: driver.Wanted})
			return g, err
		}})
		h.use(1)
		wantEqual(t, "holder", h.holder(), "")
	})
}

func TestALockLingersForOthersToo(t *testing.T) {
	for name, test := range map[string]struct {
		take func(h *household) (*lock.Lease, error)
		cost int64 // requests, its release left out
	}{
		"TryLock": {func(h *household) (*lock.Lease, error) {
			return h.locks.Mutex("a", nil).TryLock(h.Context())
		}, 0},
		"another TTL":  {lockAs(&lock.MutexOptions{TTL: time.Minute}), 2},
		"fixed":        {lockAs(&lock.MutexOptions{Fixed: true}), 2},
		"minimum hold": {lockAs(&lock.MutexOptions{MinHold: time.Millisecond}), 2},
		"TryLock of another TTL": {func(h *household) (*lock.Lease, error) {
			return h.locks.Mutex("a", &lock.MutexOptions{TTL: time.Minute}).TryLock(h.Context())
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			inHousehold(t, nil, func(t *testing.T, h *household) {
				var lease *lock.Lease
				wantEqual(t, "requests", h.asked(func() {
					var err error
					if lease, err = test.take(h); err != nil {
						t.Fatal(err)
					}
				}), test.cost)
				mustUnlock(t, lease)
			})
		})
	}
}

func lockAs(opts *lock.MutexOptions) func(h *household) (*lock.Lease, error) {
	return func(h *household) (*lock.Lease, error) { return h.locks.Mutex("a", opts).Lock(h.Context()) }
}

// TestALingeringLockIsLostByNobody: whoever had it is done with it.
func TestALingeringLockIsLostByNobody(t *testing.T) {
	events := &recorder{}
	inHousehold(t, events, func(t *testing.T, h *household) {
		if held, err := h.other.ForceRelease(t.Context(), "a"); !held || err != nil {
			t.Error(held, err)
		}
		synctest.Wait()
		h.use(1)
		h.way.suspend(time.Hour)
		h.use(1)
		wantEqual(t, "losses", events.last(lock.EventLost).Name, "")
	})
}

// TestALeaseOutlivesItsLinger: the clock decides, also when what lingers comes back.
func TestALeaseOutlivesItsLinger(t *testing.T) {
	inHousehold(t, nil, func(t *testing.T, h *household) {
		h.way.suspend(time.Hour)
		if n := h.asked(func() { h.use(1) }); n == 0 {
			t.Error("it has run out, and came back")
		}
	})
}

func TestStopGivesBackWhatLingers(t *testing.T) {
	inHousehold(t, nil, func(t *testing.T, h *household) {
		start := time.Now()
		closeNow(t, h.locks)
		wantEqual(t, "it took", time.Since(start), 0)
		wantEqual(t, "holder", h.holder(), "")
		_, err := h.locks.Mutex("a", nil).Lock(t.Context())
		wantErr(t, err, lock.ErrClosed)
	})
}

func TestWhatLingersIsGivenBackBeforeItsTokensAreUsedUp(t *testing.T) {
	inHousehold(t, nil, func(t *testing.T, h *household) {
		seen := make(map[uint64]bool)
		for range 10_000 {
			lease := mustLock(t, h.locks.Mutex("a", nil))
			if seen[lease.Token()] {
				t.Fatalf("token %d twice", lease.Token())
			}
			seen[lease.Token()] = true
			mustUnlock(t, lease)
			time.Sleep(time.Microsecond)
		}
		if n := h.way.acquires.Load(); n < 10 || n > 20 {
			t.Errorf("%d requests for 10,000 leases", n)
		}
	})
}

// TestWhatCannotBeGivenBackInTheLinger is given back in the background, until that is certain.
func TestWhatCannotBeGivenBackInTheLinger(t *testing.T) {
	inHousehold(t, nil, func(t *testing.T, h *household) {
		h.way.fail(errDown)
		time.Sleep(time.Second)
		h.way.heal()
		time.Sleep(time.Second)
		wantEqual(t, "holder", h.holder(), "")
	})
}

func TestBackendsThatTellNothingLetNothingLinger(t *testing.T) {
	virtual(t, func(t *testing.T) {
		way := newFaulty(nil)
		locks := open(t, struct {
			driver.Backend
			driver.Timekeeper
		}{way, way}, &lock.Options{Linger: lingerTime})
		for range 5 {
			mustUnlock(t, mustLock(t, locks.Mutex("a", nil)))
		}
		wantEqual(t, "releases", way.releases.Load(), 5)
	})
}

func TestLingerHasLimits(t *testing.T) {
	for linger, limit := range map[time.Duration]string{
		-1: "1ms", time.Millisecond - 1: "1ms", 100*time.Millisecond + 1: "100ms",
	} {
		_, err := memlock.New(nil, &lock.Options{Linger: linger})
		wantErr(t, err, lock.ErrInvalid)
		wantText(t, err, "linger", limit)
	}
}

// TestForcedReleaseOfALockThatComesBack ends the lease that there is.
func TestForcedReleaseOfALockThatComesBack(t *testing.T) {
	inHousehold(t, nil, func(t *testing.T, h *household) {
		lease := mustLock(t, h.locks.Mutex("a", nil))
		if held, err := h.other.ForceRelease(t.Context(), "a"); !held || err != nil {
			t.Error(held, err)
		}
		<-lease.Context().Done()
		if err := lease.Unlock(t.Context()); !errors.Is(err, lock.ErrLost) {
			t.Errorf("unlock: %v", err)
		}
	})
}
