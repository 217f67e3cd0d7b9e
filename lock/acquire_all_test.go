package lock_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// bundling is a store in memory whose answers to several requests at once can be changed.
type bundling struct {
	driver.Backend
	driver.Bundler
	driver.Timekeeper

	asked  [][]driver.Request
	answer func(ctx context.Context, reqs []driver.Request) ([]driver.Grant, error) // nil for the store's own
}

func newBundling(store *memlock.Store) *bundling {
	b := memlock.NewBackend(store)
	return &bundling{Backend: b, Bundler: b.(driver.Bundler), Timekeeper: b.(driver.Timekeeper)}
}

func (b *bundling) AcquireAll(ctx context.Context, reqs []driver.Request) ([]driver.Grant, error) {
	b.asked = append(b.asked, reqs)
	if b.answer != nil {
		return b.answer(ctx, reqs)
	}
	return b.Bundler.AcquireAll(ctx, reqs)
}

// mutexes returns the locks of those names.
func mutexes(locks *lock.Client, names ...string) (all []*lock.Mutex) {
	for _, name := range names {
		all = append(all, locks.Mutex(name, nil))
	}
	return all
}

// TestSeveralRequests: all is had with one, and the contexts descend from each other.
func TestSeveralRequests(t *testing.T) {
	virtual(t, func(t *testing.T) {
		b := newBundling(memlock.NewStore(nil))
		locks := open(t, b, nil)
		leases, err := locks.TryAll(t.Context(), mutexes(locks, "a", "b", "c")...)
		if err != nil || len(leases) != 3 || len(b.asked) != 1 {
			t.Fatalf("%d leases, %d requests: %v", len(leases), len(b.asked), err)
		}
		for i := range leases {
			inner, err := locks.Mutex(leases[i].Name(), nil).TryLock(leases[2].Context())
			if err != nil {
				t.Fatalf("its context does not descend from that of lease %d: %v", i, err)
			}
			mustUnlock(t, inner)
		}
		mustUnlock(t, leases[0])
		wantCause(t, leases[2].Context(), lock.ErrReleased)
		mustUnlock(t, leases[1])
		mustUnlock(t, leases[2])
	})
}

// TestHeldInThisProcess: the backend is not asked, and who waits behind is not held up.
func TestHeldInThisProcess(t *testing.T) {
	virtual(t, func(t *testing.T) {
		b := newBundling(memlock.NewStore(nil))
		locks := open(t, b, nil)
		held := mustLock(t, locks.Mutex("b", nil))
		_, err := locks.TryAll(t.Context(), mutexes(locks, "a", "b")...)
		wantErr(t, err, lock.ErrHeld)
		wantText(t, err, `"b"`)
		wantEqual(t, "requests", len(b.asked), 0)
		mustUnlock(t, mustLock(t, locks.Mutex("a", nil)))
		mustUnlock(t, held)
	})
}

// TestWaitersBehindARefusal: those who came meanwhile come to the front.
func TestWaitersBehindARefusal(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		b := newBundling(store)
		locks, other := open(t, b, nil), open(t, memlock.NewBackend(store), nil)
		held := mustLock(t, other.Mutex("b", nil))
		asked, goOn := make(chan struct{}), make(chan struct{})
		b.answer = func(ctx context.Context, reqs []driver.Request) ([]driver.Grant, error) {
			close(asked)
			<-goOn
			return b.Bundler.AcquireAll(ctx, reqs)
		}
		done := make(chan error, 1)
		go func() {
			_, err := locks.TryAll(t.Context(), mutexes(locks, "a", "b")...)
			done <- err
		}()
		<-asked
		a, b2 := lockLater(t, t.Context(), locks.Mutex("a", nil)), lockLater(t, t.Context(), locks.Mutex("b", nil))
		close(goOn)
		wantErr(t, <-done, lock.ErrHeld)
		mustUnlock(t, granted(t, a))
		mustUnlock(t, held)
		mustUnlock(t, granted(t, b2))
	})
}

// TestAnswerToAllIsLost: what may have been granted is given back.
func TestAnswerToAllIsLost(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		b := newBundling(store)
		locks, other := open(t, b, nil), open(t, memlock.NewBackend(store), nil)
		b.answer = func(ctx context.Context, reqs []driver.Request) ([]driver.Grant, error) {
			_, _ = b.Bundler.AcquireAll(ctx, reqs)
			return nil, errors.New("the reply was lost")
		}
		_, err := locks.TryAll(t.Context(), mutexes(locks, "a", "b")...)
		if !lock.MaybeApplied(err) {
			t.Errorf("error is %v", err)
		}
		<-time.After(time.Second)
		for _, name := range []string{"a", "b"} {
			mustUnlock(t, mustLock(t, other.Mutex(name, nil)))
		}
	})
}

// TestAllComeTooLate: grants whose time is over are given back, also those that were in time.
func TestAllComeTooLate(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		b := newBundling(store)
		locks, other := open(t, b, nil), open(t, memlock.NewBackend(store), nil)
		b.answer = func(ctx context.Context, reqs []driver.Request) ([]driver.Grant, error) {
			grants, err := b.Bundler.AcquireAll(ctx, reqs)
			<-time.After(2 * time.Second)
			return grants, err
		}
		late := locks.Mutex("b", &lock.MutexOptions{TTL: time.Second})
		_, err := locks.TryAll(t.Context(), locks.Mutex("a", nil), late, locks.Mutex("c", nil))
		wantErr(t, err, driver.ErrUnavailable)
		<-time.After(time.Second) // not until their time is over
		for _, name := range []string{"a", "b", "c"} {
			mustUnlock(t, mustTryLock(t, other.Mutex(name, nil)))
		}
	})
}

// TestNoAnswerToAll: it ends with the time for one answer, or with its context.
func TestNoAnswerToAll(t *testing.T) {
	virtual(t, func(t *testing.T) {
		b := newBundling(memlock.NewStore(nil))
		locks := open(t, b, nil)
		b.answer = func(ctx context.Context, _ []driver.Request) ([]driver.Grant, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		start := time.Now()
		_, err := locks.TryAll(t.Context(), mutexes(locks, "a", "b")...)
		wantErr(t, err, driver.ErrUnavailable)
		wantText(t, err, "no answer in 5s")
		wantEqual(t, "time", time.Since(start), 5*time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = locks.TryAll(ctx, mutexes(locks, "a", "b")...)
		wantErr(t, err, context.DeadlineExceeded)
		b.answer = nil
		leases, err := locks.TryAll(t.Context(), mutexes(locks, "a", "b")...)
		if err != nil {
			t.Fatal(err)
		}
		mustUnlock(t, leases[1])
		mustUnlock(t, leases[0])
	})
}

// TestBackendPanicsAtAll: others may have the locks.
func TestBackendPanicsAtAll(t *testing.T) {
	virtual(t, func(t *testing.T) {
		b := newBundling(memlock.NewStore(nil))
		locks := open(t, b, nil)
		b.answer = func(context.Context, []driver.Request) ([]driver.Grant, error) { panic("broken") }
		func() {
			defer func() { wantEqual(t, "panic", recover(), any("broken")) }()
			_, _ = locks.TryAll(t.Context(), mutexes(locks, "a", "b")...)
		}()
		mustUnlock(t, mustLock(t, locks.Mutex("a", nil)))
		mustUnlock(t, mustLock(t, locks.Mutex("b", nil)))
	})
}

// TestNotToBeHadTogether: nothing happens.
func TestNotToBeHadTogether(t *testing.T) {
	virtual(t, func(t *testing.T) {
		b := newBundling(memlock.NewStore(nil))
		locks, other := open(t, b, nil), openMem(t, nil)
		many := make([]*lock.Mutex, driver.MaxBundle+1)
		for i := range many {
			many[i] = locks.Mutex("a"+string(rune('a'+i)), nil)
		}
		for what, c := range map[string]struct {
			locks []*lock.Mutex
			want  error
		}{
			"none":   {nil, lock.ErrInvalid},
			"nil":    {[]*lock.Mutex{nil}, lock.ErrInvalid},
			"twice":  {mutexes(locks, "a", "a"), lock.ErrInvalid},
			"name":   {mutexes(locks, "a", ""), lock.ErrInvalid},
			"many":   {many, lock.ErrInvalid},
			"others": {[]*lock.Mutex{locks.Mutex("a", nil), other.Mutex("b", nil)}, lock.ErrUnsupported},
			"fair":   {[]*lock.Mutex{locks.Mutex("a", &lock.MutexOptions{Fair: true})}, lock.ErrUnsupported},
		} {
			if _, err := locks.TryAll(t.Context(), c.locks...); !errors.Is(err, c.want) {
				t.Errorf("%s: %v", what, err)
			}
		}
		wantEqual(t, "requests", len(b.asked), 0)
	})
}

// TestAllOfWhatLingers: what has stayed is had without asking.
func TestAllOfWhatLingers(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		locks := open(t, memlock.NewBackend(store), &lock.Options{Linger: 50 * time.Millisecond})
		other := open(t, memlock.NewBackend(store), nil)
		for range 5 {
			mustUnlock(t, mustLock(t, locks.Mutex("b", nil)))
		}
		leases, err := locks.TryAll(t.Context(), mutexes(locks, "a", "b")...)
		if err != nil || len(leases) != 2 {
			t.Fatalf("%d leases: %v", len(leases), err)
		}
		done := lockLater(t, t.Context(), other.Mutex("b", nil))
		<-time.After(time.Second)
		mustUnlock(t, leases[0])
		mustUnlock(t, leases[1])
		synctest.Wait()
		mustUnlock(t, granted(t, done))
	})
}

// mute is a store that answers late, and then gives nothing back any more.

type mute struct {
	*bundling
	silent atomic.Bool
}

func (m *mute) Release(ctx context.Context, g driver.Grant) (int, error) {
	if m.silent.Load() {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	return m.Backend.Release(ctx, g)
}

func TestTryAllOutlivesItsContext(t *testing.T) {
	virtual(t, func(t *testing.T) {
		b := &mute{bundling: newBundling(memlock.NewStore(nil))}
		locks := open(t, b, nil)
		b.answer = func(ctx context.Context, reqs []driver.Request) ([]driver.Grant, error) {
			grants, err := b.Bundler.AcquireAll(ctx, reqs)
			<-time.After(1100 * time.Millisecond)
			b.silent.Store(true)
			return grants, err
		}
		var all []*lock.Mutex
		for i := range 63 {
			all = append(all, locks.Mutex(fmt.Sprint("a", i), nil))
		}
		all = append(all, locks.Mutex("z", &lock.MutexOptions{TTL: time.Second}))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		start := time.Now()
		_, err := locks.TryAll(ctx, all...)
		wantBetween(t, "TryAll with a context of 2 s", time.Since(start), 0, 2200*time.Millisecond)
		wantErr(t, err, driver.ErrUnavailable)
		b.silent.Store(false)
	})
}
