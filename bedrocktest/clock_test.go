package bedrocktest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/txn"
)

// TestJumpIsNotNoticed: a lease of a holder that slept is lost, and whoever waits for
// the lock has it, though hours are left of both by the timers of this process.
func TestJumpIsNotNoticed(t *testing.T) {
	clock := bedrocktest.NewClock()
	store := clock.LockStore()
	holder := openLocks(t, memlock.NewBackend(store), &lock.Options{TTL: 2 * time.Hour})
	waiter := openLocks(t, memlock.NewBackend(store), nil)
	lease := take(t, holder, "a")
	waiting := make(chan *lock.Lease)
	go func() {
		next, err := waiter.Mutex("a", nil).Lock(t.Context())
		if err != nil {
			t.Error(err)
		}
		waiting <- next
	}()
	for {
		info, err := waiter.Inspect(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		if info.Waiting > 0 { // it listens
			break
		}
	}
	clock.Advance(3 * time.Hour)
	bedrocktest.Lost(t, lease)
	bedrocktest.Held(t, <-waiting)
}

// TestJumpWakesNobody: whoever waits looks again by itself only after half a minute.
func TestJumpWakesNobody(t *testing.T) {
	clock := bedrocktest.NewClock()
	watch, err := memlock.NewBackend(clock.LockStore()).(driver.Waiter).Watch(t.Context(), "a", driver.Mutex)
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	clock.Advance(time.Hour)
	select {
	case <-watch.C():
	default:
		t.Error("who listens has heard nothing")
	}
}

// TestJumpEndsNothingThatIsRenewed: a lease lives on after a jump that is shorter.
func TestJumpEndsNothingThatIsRenewed(t *testing.T) {
	clock := bedrocktest.NewClock()
	renewed := make(renewals, 10)
	locks := openLocks(t, memlock.NewBackend(clock.LockStore()), &lock.Options{TTL: 2 * time.Hour, Observer: renewed})
	lease := take(t, locks, "a")
	for range 3 {
		clock.Advance(90 * time.Minute)
		<-renewed
	}
	bedrocktest.Held(t, lease)
}

// TestLadderTakesItsTime: pauses between attempts and the deadline of a transaction
// pass at once, each as long as it is.
func TestLadderTakesItsTime(t *testing.T) {
	clock, parts := bedrocktest.NewClock(), bedrocktest.NewParticipant()
	parts.On("stock action").Fail(3)
	parts.On("pay action").Fail(bedrocktest.Always)
	co := start(t, clock.TxnStore(), &coord.Options{Poll: time.Millisecond}, parts)
	d := order(&txn.Policy{Backoff: time.Hour, MaxBackoff: time.Hour})
	d.Timeout = 24 * time.Hour
	id, began := submit(t, co, d), clock.Now()
	clock.SkipPauses(t, co, id)
	tx := bedrocktest.RolledBack(t, co, id)
	parts.CalledOnce(t, "stock compensate")
	if took := clock.Now().Sub(began); took < d.Timeout || took > d.Timeout+patient {
		t.Errorf("it took %s by the clock of its store, its deadline came after %s", took, d.Timeout)
	}
	if n := tx.Attempts[0].Times(); n != 3 {
		t.Errorf("stock failed %d times", n)
	}
}

// patient is how long what is done between pauses may take on a busy machine.
const patient = 10 * time.Minute

// TestPausesAreSkippedForEver: a call that hangs has no pause.
func TestPausesAreSkippedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, parts := bedrocktest.NewClock(), bedrocktest.NewParticipant()
		parts.On("stock action").Hang(bedrocktest.Always)
		co := start(t, clock.TxnStore(), nil, parts)
		id := submit(t, co, order(&txn.Policy{Timeout: time.Hour}))
		complains(t, []string{id, "does not come to an end", "running"}, func(t testing.TB) {
			clock.SkipPauses(t, co, id)
		})
	})
}

// renewals tells of every renewal.
type renewals chan struct{}

// Observe implements [lock.Observer].
func (r renewals) Observe(_ context.Context, e lock.Event) {
	if e.Kind == lock.EventRenewed {
		r <- struct{}{}
	}
}
