package lock_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// slowStore answers each call after a time, also those whose callers have left. It counts what is under way.
type slowStore struct{ now, most atomic.Int64 }

func (s *slowStore) begin() (end func()) {
	n := s.now.Add(1)
	for most := s.most.Load(); n > most && !s.most.CompareAndSwap(most, n); most = s.most.Load() {
	}
	return func() { s.now.Add(-1) }
}

func (s *slowStore) hooks(f *faulty, answer time.Duration) hooks {
	return hooks{
		acquire: func(ctx context.Context, req driver.Request) (driver.Grant, error) {
			end := s.begin()
			return driver.Await(ctx, func() (driver.Grant, error) {
				defer end()
				time.Sleep(answer)
				return f.Backend.Acquire(context.WithoutCancel(ctx), req)
			})
		},
		release: func(ctx context.Context, g driver.Grant) (int, error) {
			defer s.begin()()
			time.Sleep(answer)
			return f.Backend.Release(ctx, g)
		},
	}
}

// stormers is how many goroutines [waitInVain] has.
const stormers = 8

// waitInVain has some goroutines want a lock again and again, each time for less than an answer takes.
func waitInVain(ctx context.Context, m *lock.Mutex, most time.Duration) {
	var all sync.WaitGroup
	for range stormers {
		all.Go(func() {
			for ctx.Err() == nil {
				wait, cancel := context.WithTimeout(ctx, most)
				_, _ = m.Lock(wait)
				cancel()
			}
		})
	}
	all.Wait()
}

// TestCallersWhoLeavePileUp: they leave faster than what their requests were granted is given back. No more is asked
// for the name than is settled; another one is as ever.
func TestCallersWhoLeavePileUp(t *testing.T) {
	for name, opts := range map[string]*lock.MutexOptions{"plain": nil, "fair": {Fair: true}} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				backend, store := newFaulty(nil), &slowStore{}
				locks := open(t, backend, nil)
				backend.set(store.hooks(backend, 200*time.Millisecond))
				storm, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				waitInVain(storm, locks.Mutex("a", opts), 10*time.Millisecond)
				if most := store.most.Load(); most > 4*stormers { // each of the fair ones asks by itself
					t.Errorf("%d calls under way at once", most)
				}
				backend.heal()
				mustUnlock(t, mustLock(t, locks.Mutex("b", opts)))
				mustUnlock(t, mustLock(t, locks.Mutex("a", opts)))
			})
		})
	}
}

// TestWhatIsNotGivenBackKeepsEverybodyAway: the backend answers no release, but it would grant the lock. Those who want
// it have less time than they are held back; one of them asks in the end.
func TestWhatIsNotGivenBackKeepsEverybodyAway(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, nil)
		backend.freeze()
		leaveOwners(t, locks, lock.MutexOptions{})
		m := locks.Mutex("a", &lock.MutexOptions{Wait: leaveAfter})
		backend.set(hooks{release: backend.get().release})
		began := time.Now()
		lease, err := m.Lock(t.Context())
		wantErr(t, err, driver.ErrUnavailable)
		wantText(t, err, "is being given back")
		for err != nil && time.Since(began) < 3*time.Second {
			lease, err = m.Lock(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		backend.heal()
		mustUnlock(t, lease)
	})
}

// leaveAfter is for how long those wait who leave. No wait ends when somebody may ask.
const leaveAfter = 23 * time.Millisecond

// leaveOwners has some waits for a leave behind what a silent backend does not give back.
func leaveOwners(t *testing.T, locks *lock.Client, opts lock.MutexOptions) {
	t.Helper()
	opts.Wait = leaveAfter
	for range 20 {
		_, _ = locks.Mutex("a", &opts).Lock(t.Context())
	}
}

// TestTryLockIsHeldBackForLong: the backend answers no release, but it would grant the lock. Half of the patience is
// all the time that it has, for the answer, too.
func TestTryLockIsHeldBackForLong(t *testing.T) {
	virtual(t, func(t *testing.T) {
		backend := newFaulty(nil)
		locks := open(t, backend, &lock.Options{Patience: time.Second})
		backend.freeze()
		leaveOwners(t, locks, lock.MutexOptions{})
		backend.set(hooks{release: backend.get().release})
		began := time.Now()
		lease := mustTryLock(t, locks.Mutex("a", nil))
		if took := time.Since(began); took > 500*time.Millisecond {
			t.Errorf("it took %s", took)
		}
		backend.heal()
		mustUnlock(t, lease)
	})
}

// TestThoseHeldBackHaveNoPatience: the backend is silent. Who waits without a deadline is told so when the patience is
// over, however many there are besides.
func TestThoseHeldBackHaveNoPatience(t *testing.T) {
	for name, opts := range map[string]lock.MutexOptions{"plain": {}, "fair": {Fair: true}} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				backend := newFaulty(nil)
				locks := open(t, backend, &lock.Options{Patience: 5 * time.Second})
				backend.freeze()
				leaveOwners(t, locks, opts)
				began := time.Now()
				var all sync.WaitGroup
				for range 60 {
					all.Go(func() {
						_, err := locks.Mutex("a", &opts).Lock(t.Context())
						wantErr(t, err, driver.ErrUnavailable)
					})
				}
				all.Wait()
				if took := time.Since(began); took > 11*time.Second { // of somebody who has asked, after a while
					t.Errorf("the last is told after %s", took)
				}
				backend.heal()
			})
		})
	}
}
