package lock_test

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// stalledLog writes into a full pipe: whoever reads the log has stopped reading. It takes
// other lines than those that begin so.
type stalledLog struct {
	slog.Handler

	at   string
	pipe chan struct{}
}

func (s *stalledLog) Enabled(context.Context, slog.Level) bool { return true }

func (s *stalledLog) Handle(_ context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, s.at) {
		<-s.pipe
	}
	return nil
}

func newStalledLog(at string) *stalledLog {
	return &stalledLog{Handler: slog.DiscardHandler, at: at, pipe: make(chan struct{})}
}

// TestALogThatStallsWhenARenewalIsLateHidesEveryLoss: the context of a lease ends before anybody
// else can have the lock, whoever reads the log.
func TestALogThatStallsWhenARenewalIsLateHidesEveryLoss(t *testing.T) {
	store := memlock.NewStore(nil)
	backend := newFaulty(store)
	log := newStalledLog("lock: renewal is late")
	locks := open(t, backend, &lock.Options{TTL: time.Second, Logger: slog.New(log)})
	other := open(t, memlock.NewBackend(store), nil)
	first, second := mustLock(t, locks.Mutex("a", nil)), mustLock(t, locks.Mutex("b", nil))
	backend.set(hooks{renew: func(_ context.Context, grants []driver.Grant) []error {
		return allFail(grants, errDown)
	}})
	a, b := first.Context(), second.Context()

	limit, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	mustLockIn(t, limit, other.Mutex("a", nil)) // granted: the TTL is over
	mustLockIn(t, limit, other.Mutex("b", nil))
	time.Sleep(500 * time.Millisecond)
	if a.Err() == nil || b.Err() == nil {
		t.Errorf("others have both locks for half a second, and the contexts of those before say %v and %v",
			a.Err(), b.Err())
	}
	close(log.pipe)
	backend.heal()
}

func TestALogThatStallsAtALossHidesTheNext(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		backend := newFaulty(store)
		log := newStalledLog("lock: lost")
		locks := open(t, backend, &lock.Options{TTL: 10 * time.Second, Logger: slog.New(log)})
		other := open(t, memlock.NewBackend(store), nil)
		first, second := mustLock(t, locks.Mutex("a", nil)), mustLock(t, locks.Mutex("b", nil))
		a, b := first.Context(), second.Context()
		backend.freeze()
		time.Sleep(15 * time.Second)
		mustUnlock(t, mustLock(t, other.Mutex("a", nil)))
		mustUnlock(t, mustLock(t, other.Mutex("b", nil)))
		if a.Err() == nil || b.Err() == nil {
			t.Errorf("others have had both locks, and the contexts of those before say %v and %v", a.Err(), b.Err())
		}
		close(log.pipe)
		backend.heal()
	})
}

// TestTheLastOfManyLossesIsToldTooLate: at a tenth of a millisecond a line, ten thousand leases that
// run out together are told for a second, of which their margin is 610 ms.
func TestTheLastOfManyLossesIsToldTooLate(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, &lock.Options{Logger: slog.New(slowLog{slog.DiscardHandler})})
		start := time.Now()
		var leases []context.Context
		for i := range 10_000 {
			leases = append(leases, mustLock(t, locks.Mutex(strconv.Itoa(i), nil)).Context())
		}
		backend.freeze()
		time.Sleep(time.Until(start.Add(30 * time.Second))) // the TTL: from now on they can be granted to others
		alive := 0
		for _, ctx := range leases {
			if ctx.Err() == nil {
				alive++
			}
		}
		if alive > 0 {
			t.Errorf("the TTL of all is over, and %d of %d contexts go on", alive, len(leases))
		}
		backend.heal()
		time.Sleep(10 * time.Second)
	})
}

// slowLog takes a tenth of a millisecond for a loss.
type slowLog struct{ slog.Handler }

func (slowLog) Enabled(context.Context, slog.Level) bool { return true }

func (slowLog) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "lock: lost" {
		time.Sleep(100 * time.Microsecond)
	}
	return nil
}

// TestALogThatStallsHangsEveryCall: none of them ends with its context then, whatever its name
// is and though the store is well by now.
func TestALogThatStallsHangsEveryCall(t *testing.T) {
	backend := newFaulty(nil)
	log := newStalledLog("lock: renewal is late")
	locks := open(t, backend, &lock.Options{TTL: time.Second, Logger: slog.New(log)})
	mustLock(t, locks.Mutex("a", nil))
	second := mustLock(t, locks.Mutex("b", &lock.MutexOptions{TTL: time.Hour}))
	backend.set(hooks{renew: func(_ context.Context, grants []driver.Grant) []error {
		backend.heal() // it is well again
		return allFail(grants, errDown)
	}})
	time.Sleep(700 * time.Millisecond) // the renewal was late
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	for what, call := range map[string]func() error{
		"Lock of c":   func() error { _, err := locks.Mutex("c", nil).Lock(ctx); return err },
		"Unlock of b": func() error { return second.Unlock(ctx) },
		"Stop":        func() error { time.Sleep(50 * time.Millisecond); return locks.Stop(ctx) },
	} {
		done := make(chan error, 1)
		go func() { done <- call() }()
		defer func() {
			select {
			case <-done:
			default:
				t.Errorf("%s goes on 2 s after its context, of 100 ms", what)
			}
		}()
	}
	time.Sleep(2 * time.Second)
	defer time.AfterFunc(200*time.Millisecond, func() { close(log.pipe) })
}
