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
