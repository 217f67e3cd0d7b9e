package lock_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// recorder remembers every event.
type recorder struct {
	mu     sync.Mutex
	events []lock.Event
}

// Observe implements [lock.Observer].
func (r *recorder) Observe(ctx context.Context, e lock.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if who, ok := ctx.Value(contextKey{}).(string); ok {
		e.Name += " " + who
	}
	r.events = append(r.events, e)
}

// kinds returns what happened, in order, in the words "kind name".
func (r *recorder) kinds() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var kinds []string
	for _, e := range r.events {
		kinds = append(kinds, string(e.Kind)+" "+e.Name)
	}
	return kinds
}

func (r *recorder) last(kind lock.EventKind) lock.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range slices.Backward(r.events) {
		if e.Kind == kind {
			return e
		}
	}
	return lock.Event{}
}

func wantKinds(t *testing.T, r *recorder, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, r.kinds()); diff != "" {
		t.Error(diff)
	}
}

// wantKindsOf compares what happened to one of several competitors. Each is told from its
// own goroutine: in which order what happens to two of them is told, nobody promises.
func wantKindsOf(t *testing.T, r *recorder, who string, want ...string) {
	t.Helper()
	var kinds []string
	for _, kind := range r.kinds() {
		if word, name, _ := strings.Cut(kind, " "); name == who {
			kinds = append(kinds, word)
		}
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("%s: %s", who, diff)
	}
}

func as(t *testing.T, who string) context.Context {
	t.Helper()
	return context.WithValue(t.Context(), contextKey{}, who)
}

func TestTheMomentsOfACompetitorAreObservedInOrder(t *testing.T) {
	virtual(t, func(t *testing.T) {
		seen := &recorder{}
		locks := openMem(t, &lock.Options{Observer: seen})
		first := mustLockIn(t, as(t, "1"), locks.Mutex("a", nil))
		second := lockLater(t, as(t, "2"), locks.Mutex("a", nil))
		time.Sleep(time.Second)
		mustUnlock(t, first)
		lease := granted(t, second)
		time.Sleep(2 * time.Second)
		mustUnlock(t, lease)
		wantKindsOf(t, seen, "a 1", "queued", "contending", "acquired", "left")
		wantKindsOf(t, seen, "a 2", "queued", "contending", "acquired", "left")
		acquired, left := seen.last(lock.EventAcquired), seen.last(lock.EventLeft)
		wantEqual(t, "wait", acquired.Wait, time.Second)
		wantEqual(t, "token", acquired.Token, lease.Token())
		wantEqual(t, "owner", acquired.Owner, lease.Owner())
		wantEqual(t, "held", left.Held, 2*time.Second)
		wantErr(t, left.Err, nil)
	})
}

func TestAHandedOffLockSkipsContending(t *testing.T) {
	virtual(t, func(t *testing.T) {
		seen := &recorder{}
		locks := openMem(t, &lock.Options{Observer: seen})
		blocker := mustLock(t, locks.Mutex("a", nil))
		first := lockLater(t, as(t, "1"), locks.Mutex("a", nil))
		second := lockLater(t, as(t, "2"), locks.Mutex("a", nil))
		mustUnlock(t, blocker)
		mustUnlock(t, granted(t, first))
		mustUnlock(t, granted(t, second))
		wantKindsOf(t, seen, "a", "queued", "contending", "acquired", "left")
		wantKindsOf(t, seen, "a 1", "queued", "contending", "acquired", "left")
		wantKindsOf(t, seen, "a 2", "queued", "acquired", "left")
	})
}

func TestWhoGivesUpLeavesWithAnError(t *testing.T) {
	virtual(t, func(t *testing.T) {
		seen := &recorder{}
		store := memlock.NewStore(nil)
		locks, other := open(t, memlock.NewBackend(store), &lock.Options{Observer: seen}),
			open(t, memlock.NewBackend(store), nil)
		mustLock(t, other.Mutex("a", nil))
		_, err := locks.Mutex("a", nil).TryLock(as(t, "1"))
		wantErr(t, err, lock.ErrHeld)
		_, err = locks.Mutex("a", &lock.MutexOptions{Wait: time.Second}).Lock(as(t, "2"))
		wantErr(t, err, lock.ErrHeld)
		wantKinds(t, seen, "queued a 1", "contending a 1", "left a 1", "queued a 2", "contending a 2", "left a 2")
		left := seen.last(lock.EventLeft)
		wantErr(t, left.Err, lock.ErrHeld)
		wantEqual(t, "wait", left.Wait, time.Second)
	})
}

func TestRenewalAndLossAreObserved(t *testing.T) {
	virtual(t, func(t *testing.T) {
		seen := &recorder{}
		backend := newFaulty(nil)
		locks := open(t, backend, &lock.Options{Observer: seen})
		lease := mustLock(t, locks.Mutex("a", nil))
		time.Sleep(20 * time.Second)
		slack := seen.last(lock.EventRenewed).Slack
		wantBetween(t, "slack", slack, 14*time.Second, 17*time.Second)
		backend.set(hooks{renew: failRenewals(errDown)})
		<-lease.Context().Done()
		synctest.Wait()
		wantKinds(t, seen, "queued a", "contending a", "acquired a", "renewed a", "lost a")
		lost := seen.last(lock.EventLost)
		wantErr(t, lost.Err, lock.ErrLost)
		wantEqual(t, "token", lost.Token, lease.Token())
		_ = lease.Unlock(t.Context())
		wantErr(t, seen.last(lock.EventLeft).Err, lock.ErrLost)
	})
}

// A re-entry is no competition, and a second Unlock of a lease does nothing:
// counters of what was acquired and left stay equal.
func TestOnlyCompetitorsAreObserved(t *testing.T) {
	virtual(t, func(t *testing.T) {
		seen := &recorder{}
		locks := openMem(t, &lock.Options{Observer: seen})
		outer := mustLock(t, locks.Mutex("a", nil))
		inner := mustLockIn(t, outer.Context(), locks.Mutex("a", nil))
		mustUnlock(t, inner)
		mustUnlock(t, outer)
		_ = outer.Unlock(t.Context())
		wantKinds(t, seen, "queued a", "contending a", "acquired a", "left a")
	})
}

func TestObserversTellsAll(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var log bytes.Buffer
		first, second := &recorder{}, &recorder{}
		locks := openMem(t, &lock.Options{
			Observer: lock.Observers(first, nil, second), Logger: slog.New(slog.NewTextHandler(&log, nil)),
		})
		mustUnlock(t, mustLock(t, locks.Mutex("a", nil)))
		wantKinds(t, first, "queued a", "contending a", "acquired a", "left a")
		wantKinds(t, second, first.kinds()...)
		wantEqual(t, "log", log.String(), "") // as of a panic
	})
}

// An observer that panics shuts no name, and ends no renewal.
func TestAnObserverThatPanicsShutsTheName(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var log bytes.Buffer
		seen := &recorder{}
		locks := openMem(t, &lock.Options{
			Observer: lock.Observers(panicking{}, seen), Logger: slog.New(slog.NewTextHandler(&log, nil)),
		})
		for range 2 {
			lease := mustLock(t, locks.Mutex("a", nil))
			time.Sleep(time.Minute)
			mustUnlock(t, lease)
		}
		synctest.Wait()
		wantEqual(t, "acquired", strings.Count(strings.Join(seen.kinds(), " "), "acquired"), 2)
		for _, kind := range []lock.EventKind{lock.EventQueued, lock.EventRenewed, lock.EventLeft} {
			wantText(t, errors.New(log.String()), "event="+string(kind)+" name=a panic=\"out of paper\" stack=")
		}
	})
}

type panicking struct{}

// Observe implements [lock.Observer].
func (panicking) Observe(context.Context, lock.Event) { panic("out of paper") }
