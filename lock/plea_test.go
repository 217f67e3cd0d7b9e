package lock_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// pleas keeps what holders were asked.
type pleas struct {
	mu   sync.Mutex
	seen []lock.Event
}

func (p *pleas) Observe(_ context.Context, e lock.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Kind == lock.EventAsked {
		p.seen = append(p.seen, e)
	}
}

func mustAsk(t *testing.T, locks *lock.Client, told int) {
	t.Helper()
	got, err := locks.Ask(t.Context(), "a", "maintenance", time.Minute)
	if err != nil || got != told {
		t.Fatalf("%d were told, want %d: %v", got, told, err)
	}
	synctest.Wait()
}

// wantAsked fails the test unless the lease's holder knows of a plea.
func wantAsked(t *testing.T, l *lock.Lease) {
	t.Helper()
	select {
	case <-l.Asked():
	default:
		t.Error("it has not been told")
	}
	p, asked := l.Plea()
	if want := (lock.Plea{Reason: "maintenance", By: time.Now().Add(time.Minute)}); !asked || p != want {
		t.Errorf("plea is %+v, want %+v", p, want)
	}
}

// TestHolderIsNotAsked: every kind of holder hears of it, and goes on.
func TestHolderIsNotAsked(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var seen pleas
		one, other := twoProcesses(t, &lock.Options{Observer: &seen})
		mustAsk(t, other, 0)
		kinds := []lock.Lockable{
			one.Mutex("a", nil), one.RWMutex("a", nil).Writer(), one.RWMutex("a", nil).Reader(),
			one.Semaphore("a", 3, nil).Permits(2), one.Mutex("a", &lock.MutexOptions{Fair: true}),
		}
		for i, kind := range kinds {
			lease := mustLock(t, kind)
			if p, asked := lease.Plea(); asked {
				t.Errorf("nobody has asked: %+v", p)
			}
			asked := lease.Asked()
			mustAsk(t, other, 1)
			<-asked
			wantAsked(t, lease)
			wantEqual(t, "state", lease.State(), lock.Held)
			mustUnlock(t, lease)
			wantEqual(t, "events", len(seen.seen), i+1)
			wantEqual(t, "reason told", seen.seen[i].Plea.Reason, "maintenance")
		}
	})
}

// TestAskedForAndPassedOn: who has been asked gives it to other processes, not to the next one here, who would have had
// it otherwise.
func TestAskedForAndPassedOn(t *testing.T) {
	for _, asked := range []bool{false, true} {
		virtual(t, func(t *testing.T) {
			one, other := twoProcesses(t, &lock.Options{HandOff: lock.HandOff{Time: time.Hour}})
			first := mustLock(t, one.Mutex("a", nil))
			second := lockLater(t, t.Context(), one.Mutex("a", nil))
			here := lockLater(t, t.Context(), one.Mutex("a", nil)) // for whom the second asks for a token
			mustUnlock(t, first)
			lease := granted(t, second)
			there := lockLater(t, t.Context(), other.Mutex("a", nil))
			if asked {
				mustAsk(t, other, 1)
				inner := mustLockIn(t, lease.Context(), one.Mutex("a", nil)) // whoever has it may enter it again
				wantAsked(t, inner)
				mustUnlock(t, inner)
			}
			mustUnlock(t, lease)
			synctest.Wait()
			select {
			case got := <-there:
				wantEqual(t, "asked, and another process has it", asked, true)
				mustUnlock(t, got.lease)
				mustUnlock(t, granted(t, here))
			case got := <-here:
				wantEqual(t, "asked, and the next one here has it", asked, false)
				mustUnlock(t, got.lease)
				mustUnlock(t, granted(t, there))
			}
		})
	}
}

// TestReadersJoinWhoWasAsked: those who come later do not share the grant.
func TestReadersJoinWhoWasAsked(t *testing.T) {
	virtual(t, func(t *testing.T) {
		one, other := twoProcesses(t, &lock.Options{HandOff: lock.HandOff{Time: time.Hour}})
		first := mustLock(t, one.RWMutex("a", nil).Reader())
		mustAsk(t, other, 1)
		second := mustLock(t, one.RWMutex("a", nil).Reader())
		if second.Owner() == first.Owner() {
			t.Error("it has joined")
		}
		mustUnlock(t, first)
		mustUnlock(t, second)
	})
}

// TestWhatLingersIsAskedFor: nobody has it, so it is given back.
func TestWhatLingersIsAskedFor(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		one := open(t, memlock.NewBackend(store), &lock.Options{Linger: 50 * time.Millisecond})
		other := open(t, memlock.NewBackend(store), nil)
		for range 5 {
			mustUnlock(t, mustLock(t, one.Mutex("a", nil)))
		}
		if info, err := other.Inspect(t.Context(), "a"); err != nil || !info.Held() {
			t.Fatalf("it does not linger: %v", err)
		}
		mustAsk(t, other, 1)
		if info, err := other.Inspect(t.Context(), "a"); err != nil || info.Held() {
			t.Errorf("it lingers still: %v", err)
		}
	})
}

// TestUnsoundPlea: nothing is asked.
func TestUnsoundPlea(t *testing.T) {
	virtual(t, func(t *testing.T) {
		locks := openMem(t, nil)
		lease := mustLock(t, locks.Mutex("a", nil))
		for _, c := range []struct {
			name, reason string
			within       time.Duration
		}{
			{name: ""},
			{name: "a", reason: string(make([]byte, driver.MaxReason+1))},
			{name: "a", reason: "\n"},
			{name: "a", reason: "\xff"},
			{name: "a", within: -1},
			{name: "a", within: driver.MaxTTL + 1},
		} {
			_, err := locks.Ask(t.Context(), c.name, c.reason, c.within)
			wantErr(t, err, lock.ErrInvalid)
		}
		if _, asked := lease.Plea(); asked {
			t.Error("it was asked")
		}
		mustUnlock(t, lease)
		without := open(t, struct{ driver.Backend }{bedrocktest.NewBackend(memlock.NewBackend(nil))}, nil)
		_, err := without.Ask(t.Context(), "a", "", 0)
		wantErr(t, err, lock.ErrUnsupported)
	})
}

// TestWhoHasGivenItBackIsAsked: a lease was unlocked, and the lock passed on to the next one of this process. Who
// asks then asks the next one, and not the one before.
func TestWhoHasGivenItBackIsAsked(t *testing.T) {
	virtual(t, func(t *testing.T) {
		one, other := twoProcesses(t, nil)
		first := mustLock(t, one.Mutex("a", nil))
		next := make(chan *lock.Lease)
		go func() {
			l, err := one.Mutex("a", nil).Lock(t.Context())
			if err != nil {
				t.Error(err)
			}
			next <- l
		}()
		synctest.Wait()
		asked := first.Asked()
		mustUnlock(t, first)
		second := <-next
		mustAsk(t, other, 1)
		wantAsked(t, second)
		select {
		case <-asked:
			t.Error("who has given it back is asked for it")
		default:
		}
		if p, ok := first.Plea(); ok {
			t.Errorf("a lease that is over was asked for: %+v", p)
		}
		mustUnlock(t, second)
	})
}

// TestWhoHasHandedItOnIsAsked is the same after the lock was passed on within the process, under one grant.
func TestWhoHasHandedItOnIsAsked(t *testing.T) {
	virtual(t, func(t *testing.T) {
		one, other := twoProcesses(t, &lock.Options{HandOff: lock.HandOff{Count: 100, Time: time.Minute}})
		turns := make(chan *lock.Lease)
		for range 6 {
			go func() {
				l, err := one.Mutex("a", nil).Lock(t.Context())
				if err != nil {
					t.Error(err)
				}
				turns <- l
			}()
		}
		synctest.Wait()
		var over []*lock.Lease
		var heard []<-chan struct{}
		for range 5 {
			l := <-turns
			over, heard = append(over, l), append(heard, l.Asked())
			mustUnlock(t, l)
			synctest.Wait()
		}
		last := <-turns
		mustAsk(t, other, 1)
		wantAsked(t, last)
		for i, l := range over {
			if p, ok := l.Plea(); ok {
				t.Errorf("lease %d, token %d, was unlocked before %d was granted, and was asked for: %+v",
					i, l.Token(), last.Token(), p)
			}
			select {
			case <-heard[i]:
				t.Errorf("lease %d hears what the next one is asked", i)
			case <-l.Asked():
				t.Errorf("lease %d says that it was asked", i)
			default:
			}
		}
		mustUnlock(t, last)
	})
}

// TestReaderWhoHasGoneIsAsked: readers share a grant. One that has given back is not asked.
func TestReaderWhoHasGoneIsAsked(t *testing.T) {
	virtual(t, func(t *testing.T) {
		one, other := twoProcesses(t, nil)
		first := mustLock(t, one.RWMutex("a", nil).Reader())
		second := mustLock(t, one.RWMutex("a", nil).Reader())
		asked := first.Asked()
		mustUnlock(t, first)
		mustAsk(t, other, 1)
		wantAsked(t, second)
		if p, ok := first.Plea(); ok {
			t.Errorf("who has given it back was asked for it: %+v", p)
		}
		select {
		case <-asked:
			t.Error("who has given it back hears it")
		default:
		}
		mustUnlock(t, second)
	})
}

// TestPleaIsForgottenByADowngrade: who goes on to read has been asked for the name.
func TestPleaIsForgottenByADowngrade(t *testing.T) {
	virtual(t, func(t *testing.T) {
		one, other := twoProcesses(t, nil)
		w := mustLock(t, one.RWMutex("a", nil).Writer())
		mustAsk(t, other, 1)
		reading, err := w.Downgrade(t.Context())
		wantErr(t, err, nil)
		wantAsked(t, reading)
		mustUnlock(t, reading)
	})
}

// TestPleaIsForgottenWithTheLock: a lease that is over tells what it was asked, and not what those were after it.
func TestPleaIsForgottenWithTheLock(t *testing.T) {
	virtual(t, func(t *testing.T) {
		one, other := twoProcesses(t, nil)
		first := mustLock(t, one.RWMutex("a", nil).Reader())
		second := mustLock(t, one.RWMutex("a", nil).Reader())
		wantEqual(t, "they share a grant", first.Owner(), second.Owner())
		mustAsk(t, other, 1)
		mustUnlock(t, first)
		wantAsked(t, first)
		wantAsked(t, second)
		time.Sleep(time.Second)
		mustAsk(t, other, 1)
		wantAsked(t, second)
		if p, asked := first.Plea(); !asked || time.Until(p.By) != 59*time.Second {
			t.Errorf("a lease that is over was asked, and tells of %+v", p)
		}
		mustUnlock(t, second)
	})
}

// TestAskedForAndLingers: who was asked for it while it had it gives it back at once.
func TestAskedForAndLingers(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		one := open(t, memlock.NewBackend(store), &lock.Options{Linger: 50 * time.Millisecond})
		other := open(t, memlock.NewBackend(store), nil)
		for range 5 {
			mustUnlock(t, mustLock(t, one.Mutex("a", nil)))
		}
		lease := mustLock(t, one.Mutex("a", nil))
		mustAsk(t, other, 1)
		wantAsked(t, lease)
		mustUnlock(t, lease)
		if info, err := other.Inspect(t.Context(), "a"); err != nil || info.Held() {
			t.Errorf("it lingers: %v", err)
		}
	})
}
