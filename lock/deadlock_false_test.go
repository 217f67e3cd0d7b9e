package lock_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// An upgrade in the lease's own context, while another reads for five seconds.

func TestUpgradeInTheLeasesContextIsTakenForACircle(t *testing.T) {
	virtual(t, func(t *testing.T) {
		cs := circle(t, 2)
		other, err := cs[1].RWMutex("r", nil).RLock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		up, err := cs[0].RWMutex("r", nil).RLockUpgradeable(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(5*time.Second, func() { _ = other.Unlock(context.Background()) })
		w, err := up.Upgrade(up.Context())
		if err != nil {
			t.Fatalf("nobody waits for us: %v", err)
		}
		mustUnlock(t, w)
		mustUnlock(t, up)
	})
}

// One server has two places where names are different locks: who has a in one of them waits for b in the other one, and
// who has b in the first one waits for a.

func TestWaitInAnotherPlaceIsTakenForACircle(t *testing.T) {
	virtual(t, func(t *testing.T) {
		shop, stock := memlock.NewStore(nil), memlock.NewStore(nil)
		in := func(store *memlock.Store, place string) *lock.Client {
			b := bedrocktest.NewBackend(memlock.NewBackend(store))
			return open(t, &placed{b, driver.IdentityIn("server", place)}, nil)
		}
		stockOfOne, together := in(stock, "stock/"), make(chan struct{})
		busy := mustLock(t, in(stock, "stock/").Mutex("b", nil))
		time.AfterFunc(time.Minute, func() { _ = busy.Unlock(context.Background()) })
		one, two, done := in(shop, "shop/"), in(shop, "shop/"), make(chan error, 2)
		go func() { done <- both(t.Context(), one.Mutex("a", nil), stockOfOne.Mutex("b", nil), together) }()
		go func() { done <- both(t.Context(), two.Mutex("b", nil), two.Mutex("a", nil), together) }()
		synctest.Wait()
		close(together)
		for range 2 {
			if err := <-done; err != nil {
				t.Errorf("nobody waits in a circle: %v", err)
			}
		}
	})
}

// placed is a backend that is in a place of its store.
type placed struct {
	*bedrocktest.Backend

	identity string
}

// Identity implements [driver.Identifier].
func (p *placed) Identity(context.Context) (string, error) { return p.identity, nil }

// MinHold keeps the grant in the store, and what its holder had waited for with it.

func TestMinHoldKeepsWhatWasWaitedFor(t *testing.T) {
	virtual(t, func(t *testing.T) {
		cs := circle(t, 2)
		b := mustLock(t, cs[1].Mutex("b", nil))
		a := mustLock(t, cs[0].Mutex("a", &lock.MutexOptions{MinHold: 20 * time.Second}))
		done := lockLater(t, a.Context(), cs[0].Mutex("b", nil))
		<-time.After(3 * time.Second)
		mustUnlock(t, a) // it gives up
		if got := <-done; got.err == nil {
			t.Fatal("it has b")
		}
		<-time.After(time.Second)
		start := time.Now()
		again, err := cs[1].Mutex("a", nil).Lock(b.Context())
		if err != nil {
			t.Fatalf("nobody waits for b, a is free in %s: %v after %s", 16*time.Second, err, time.Since(start))
		}
		mustUnlock(t, again)
		mustUnlock(t, b)
	})
}

// The same where the wait just times out, and the store takes a millisecond.

func TestMinHoldKeepsWhatWasWaitedForInVain(t *testing.T) {
	virtual(t, func(t *testing.T) {
		cs := circle(t, 2)
		b := mustLock(t, cs[1].Mutex("b", nil))
		a := mustLock(t, cs[0].Mutex("a", &lock.MutexOptions{MinHold: 20 * time.Second}))
		_, err := cs[0].Mutex("b", &lock.MutexOptions{Wait: 3 * time.Second}).Lock(a.Context())
		wantErr(t, err, lock.ErrHeld)
		mustUnlock(t, a)
		<-time.After(time.Second)
		again, err := cs[1].Mutex("a", nil).Lock(b.Context())
		if err != nil {
			t.Fatalf("nobody waits for b: %v", err)
		}
		mustUnlock(t, again)
		mustUnlock(t, b)
	})
}

// What lingers is taken up by another goroutine, with the note of the one before.

func TestWhatLingersKeepsWhatWasWaitedFor(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		mine := open(t, memlock.NewBackend(store), &lock.Options{Linger: 50 * time.Millisecond})
		other := open(t, memlock.NewBackend(store), nil)
		b := mustLock(t, other.Mutex("b", nil))
		for range 20 {
			mustUnlock(t, mustLock(t, mine.Mutex("a", nil)))
		}
		<-time.After(60 * time.Millisecond)
		for range 5 {
			mustUnlock(t, mustLock(t, mine.Mutex("a", nil)))
		}
		a := mustLock(t, mine.Mutex("a", nil))
		done := lockLater(t, a.Context(), mine.Mutex("b", nil))
		<-time.After(3 * time.Second)
		mustUnlock(t, a)
		<-done
		a2 := mustLock(t, mine.Mutex("a", nil))
		time.AfterFunc(20*time.Second, func() { _ = a2.Unlock(context.Background()) })
		again, err := other.Mutex("a", nil).Lock(b.Context())
		if err != nil {
			t.Fatalf("nobody waits for b: %v", err)
		}
		mustUnlock(t, again)
		mustUnlock(t, b)
	})
}

// Who wants to read and to upgrade waits for the one who may upgrade, and for no other reader.

func TestUpgradeableReaderWaitsForPlainReaders(t *testing.T) {
	virtual(t, func(t *testing.T) {
		cs := circle(t, 3)
		reads, err := cs[0].RWMutex("r", nil).RLock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		up, err := cs[1].RWMutex("r", nil).RLockUpgradeable(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		a := mustLock(t, cs[2].Mutex("a", nil))
		done := lockLater(t, reads.Context(), cs[0].Mutex("a", nil)) // reads r, waits for a
		time.AfterFunc(20*time.Second, func() { _ = up.Unlock(context.Background()) })
		mine, err := cs[2].RWMutex("r", nil).RLockUpgradeable(a.Context()) // waits for up alone
		if err != nil {
			t.Errorf("it waits for one who works, and waits for nobody: %v", err)
		} else {
			mustUnlock(t, mine)
		}
		mustUnlock(t, a)
		if got := <-done; got.err != nil {
			t.Errorf("the reader: %v", got.err)
		} else {
			mustUnlock(t, got.lease)
		}
		mustUnlock(t, reads)
	})
}

// A group is cancelled by the deadlock of one of it: the others' waits end with their context.

func TestDeadlockOfAnotherWaitIsTheCause(t *testing.T) {
	virtual(t, func(t *testing.T) {
		cs := circle(t, 2)
		mustLock(t, cs[1].Mutex("x", nil))
		mine := mustLock(t, cs[0].Mutex("mine", nil))
		ctx, cancel := context.WithCancelCause(mine.Context())
		done := lockLater(t, ctx, cs[0].Mutex("x", nil))
		cancel(&lock.DeadlockError{Name: "other"}) // as errgroup does
		got := <-done
		wantErr(t, got.err, context.Canceled)
		wantText(t, got.err, `"x"`)
	})
}

// A wait that outlives its lease speaks for the next lease of the same grant.

func TestWaitOutlivesItsLease(t *testing.T) {
	virtual(t, func(t *testing.T) {
		cs := circle(t, 2)
		b := mustLock(t, cs[1].Mutex("b", nil))
		a := mustLock(t, cs[0].Mutex("a", nil))
		next := lockLater(t, t.Context(), cs[0].Mutex("a", nil))
		next2 := lockLater(t, t.Context(), cs[0].Mutex("a", nil))
		mustUnlock(t, a) // tokens of one: the next asks, with tokens for several
		a1 := granted(t, next)
		detached, cancel2 := context.WithCancel(context.WithoutCancel(a1.Context()))
		defer cancel2()
		done := lockLater(t, detached, cs[0].Mutex("b", nil))
		<-time.After(3 * time.Second)
		mustUnlock(t, a1)
		a2 := granted(t, next2)
		if a1.Owner() != a2.Owner() {
			t.Skip("not passed on")
		}
		time.AfterFunc(20*time.Second, func() { _ = a2.Unlock(context.Background()) })
		again, err := cs[1].Mutex("a", nil).Lock(b.Context())
		if err != nil {
			t.Errorf("who has a waits for nobody: %v", err)
		} else {
			mustUnlock(t, again)
		}
		cancel2()
		<-done
		mustUnlock(t, b)
	})
}

// lateNotes is a store whose first annotation has no answer in time, and is carried out late.

type lateNotes struct {
	driver.Backend
	driver.Timekeeper
	n atomic.Int32
}

func (l *lateNotes) Annotate(ctx context.Context, g driver.Grant, meta string) error {
	if l.n.Add(1) == 1 {
		go func() {
			<-time.After(9 * time.Second)
			_ = l.Backend.(driver.Annotator).Annotate(context.Background(), g, meta)
		}()
		<-ctx.Done()
		return ctx.Err()
	}
	return l.Backend.(driver.Annotator).Annotate(ctx, g, meta)
}

func (l *lateNotes) Inspect(ctx context.Context, name string) (driver.Info, error) {
	return l.Backend.(driver.Inspector).Inspect(ctx, name)
}

func (l *lateNotes) List(ctx context.Context, p string, n int) ([]driver.Info, error) {
	return l.Backend.(driver.Inspector).List(ctx, p, n)
}

// A note that arrives after it was taken back stays.

func TestLateNoteStays(t *testing.T) {
	virtual(t, func(t *testing.T) {
		store := memlock.NewStore(nil)
		b0 := memlock.NewBackend(store)
		mine := open(t, &lateNotes{Backend: b0, Timekeeper: b0.(driver.Timekeeper)}, nil)
		other := open(t, memlock.NewBackend(store), nil)
		b := mustLock(t, other.Mutex("b", nil))
		a := mustLock(t, mine.Mutex("a", nil))
		_, err := mine.Mutex("b", &lock.MutexOptions{Wait: 3 * time.Second}).Lock(a.Context())
		wantErr(t, err, lock.ErrHeld)
		<-time.After(10 * time.Minute)
		time.AfterFunc(20*time.Second, func() { _ = a.Unlock(context.Background()) })
		again, err := other.Mutex("a", nil).Lock(b.Context())
		if err != nil {
			t.Fatalf("nobody has waited for b for ten minutes: %v", err)
		}
		mustUnlock(t, again)
		mustUnlock(t, b)
	})
}

// Three in a circle; one of them has looked for long, and so looks seldom.

// Names that are alike, in three stores.

func TestSameNameOfAnotherStoreIsTakenForACircle(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s1, s2, s3 := memlock.NewStore(nil), memlock.NewStore(nil), memlock.NewStore(nil)
		p1, p2 := open(t, memlock.NewBackend(s1), nil), open(t, memlock.NewBackend(s2), nil)
		q2, q3 := open(t, memlock.NewBackend(s2), nil), open(t, memlock.NewBackend(s3), nil)
		z3 := open(t, memlock.NewBackend(s3), nil)
		pa := mustLock(t, p1.Mutex("a", nil)) // a of the first store
		qb := mustLock(t, q2.Mutex("b", nil))
		za := mustLock(t, z3.Mutex("a", nil)) // a of the third
		qd := lockLater(t, qb.Context(), q3.Mutex("a", nil))
		time.AfterFunc(20*time.Second, func() { _ = za.Unlock(context.Background()) })
		go func() {
			got := <-qd
			if got.err == nil {
				_ = got.lease.Unlock(context.Background())
			}
			_ = qb.Unlock(context.Background())
		}()
		pb, err := p2.Mutex("b", nil).Lock(pa.Context())
		if err != nil {
			t.Fatalf("q waits for z, and z works: %v", err)
		}
		mustUnlock(t, pb)
		mustUnlock(t, pa)
	})
}

// Metadata of a user's.

func TestMetaOfAUserSaysThatItWaits(t *testing.T) {
	virtual(t, func(t *testing.T) {
		cs := circle(t, 2)
		b := mustLock(t, cs[1].Mutex("b", nil))
		m := cs[0].Mutex("a", &lock.MutexOptions{Meta: map[string]string{"bedrock:waits": "b"}})
		a, err := m.Lock(t.Context())
		if errors.Is(err, lock.ErrInvalid) {
			return
		}
		time.AfterFunc(20*time.Second, func() { _ = a.Unlock(context.Background()) })
		again, err := cs[1].Mutex("a", nil).Lock(b.Context())
		if err != nil {
			t.Fatalf("nobody waits for b: %v", err)
		}
		mustUnlock(t, again)
		mustUnlock(t, b)
	})
}

// The same with readers, who share a grant.

func TestReadersWaitOutlivesItsLease(t *testing.T) {
	virtual(t, func(t *testing.T) {
		cs := circle(t, 2)
		b := mustLock(t, cs[1].Mutex("b", nil))
		r1, err := cs[0].RWMutex("r", nil).RLock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r2, err := cs[0].RWMutex("r", nil).RLock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "owner", r1.Owner(), r2.Owner())
		ctx, cancel := context.WithCancel(context.WithoutCancel(r1.Context()))
		done := lockLater(t, ctx, cs[0].Mutex("b", nil))
		<-time.After(3 * time.Second)
		mustUnlock(t, r1)
		time.AfterFunc(20*time.Second, func() { _ = r2.Unlock(context.Background()) })
		w, err := cs[1].RWMutex("r", nil).Writer().Lock(b.Context())
		if err != nil {
			t.Errorf("who reads r waits for nobody: %v", err)
		} else {
			mustUnlock(t, w)
		}
		cancel()
		if got := <-done; errors.Is(got.err, lock.ErrDeadlock) {
			t.Errorf("the one whose lease is over is told of a circle: %v", got.err)
		}
		mustUnlock(t, b)
	})
}

// TryAll gives back one after the other what it had: long after its context has ended.

// A circle of twenty.

// Holders who have said so much of themselves that there is no room for their waits.

// Four over two stores.

// A permit of another store: any of those who have one may give it back.

func TestPermitOfAnotherStoreMakesACircle(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s1, s2 := memlock.NewStore(nil), memlock.NewStore(nil)
		p1, p2 := open(t, memlock.NewBackend(s1), nil), open(t, memlock.NewBackend(s2), nil)
		q1, q2 := open(t, memlock.NewBackend(s1), nil), open(t, memlock.NewBackend(s2), nil)
		works := mustLock(t, open(t, memlock.NewBackend(s1), nil).Semaphore("s", 2, nil))
		permit := mustLock(t, p1.Semaphore("s", 2, nil))
		b := mustLock(t, q2.Mutex("b", nil))
		done := make(chan struct{})
		go func() {
			defer close(done)
			if l, err := q1.Semaphore("s", 2, nil).Lock(b.Context()); err == nil {
				_ = l.Unlock(context.Background())
			}
			_ = b.Unlock(context.Background())
		}()
		time.AfterFunc(20*time.Second, func() { _ = works.Unlock(context.Background()) })
		mine, err := p2.Mutex("b", nil).Lock(permit.Context())
		if err != nil {
			t.Errorf("a permit comes back in a moment: %v", err)
		} else {
			mustUnlock(t, mine)
		}
		mustUnlock(t, permit)
		<-done
	})
}
