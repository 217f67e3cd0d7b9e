package lock_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func TestTwoOfOneCircleAreTold(t *testing.T) {
	told2 := 0
	for range 12 {
		synctest.Test(t, func(t *testing.T) {
			store := memlock.NewStore(nil)
			cs := make([]*lock.Client, 3)
			for i := range cs {
				cs[i] = open(t, &delayed{memlock.NewBackend(store), memlock.NewBackend(store).(driver.Timekeeper)}, nil)
			}
			qb, err := cs[1].RWMutex("b", nil).RLock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			pa := mustLock(t, cs[0].Mutex("a", nil))
			rc := mustLock(t, cs[2].Mutex("c", nil))
			done := make(chan error, 3)
			run := func(l *lock.Lease, m lock.Lockable) {
				go func() {
					second, err := m.Lock(l.Context())
					if err == nil {
						err = second.Unlock(context.Background())
					}
					_ = l.Unlock(context.Background())
					done <- err
				}()
			}
			run(pa, cs[0].RWMutex("b", nil).Writer()) // p waits for q to have read
			<-time.After(9 * time.Second)
			run(qb, cs[1].Mutex("c", nil))
			run(rc, cs[2].Mutex("a", nil))
			n := 0
			for range 3 {
				if errors.Is(<-done, lock.ErrDeadlock) {
					n++
				}
			}
			if n > 1 {
				told2++
			}
		})
	}
	if told2 > 0 {
		t.Errorf("two of one circle were told in %d of 12", told2)
	}
}

// delayed is a store that takes a millisecond to be inspected and annotated.

type delayed struct {
	driver.Backend
	driver.Timekeeper
}

func (l *delayed) Watch(ctx context.Context, name string, k driver.Kind) (driver.Watch, error) {
	return l.Backend.(driver.Waiter).Watch(ctx, name, k)
}

func (l *delayed) Annotate(ctx context.Context, g driver.Grant, meta string) error {
	<-time.After(time.Millisecond)
	return l.Backend.(driver.Annotator).Annotate(ctx, g, meta)
}

func (l *delayed) Inspect(ctx context.Context, name string) (driver.Info, error) {
	<-time.After(time.Millisecond)
	return l.Backend.(driver.Inspector).Inspect(ctx, name)
}

func (l *delayed) List(ctx context.Context, p string, n int) ([]driver.Info, error) {
	return l.Backend.(driver.Inspector).List(ctx, p, n)
}

func TestLargeCircleIsMissed(t *testing.T) {
	virtual(t, func(t *testing.T) {
		const n = 20
		cs := circle(t, n)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		together, done := make(chan struct{}), make(chan error, n)
		for i, c := range cs {
			go func() {
				done <- both(ctx, c.Mutex(fmt.Sprint("n", i), nil), c.Mutex(fmt.Sprint("n", (i+1)%n), nil), together)
			}()
		}
		synctest.Wait()
		close(together)
		told := 0
		for range n {
			if errors.Is(<-done, lock.ErrDeadlock) {
				told++
			}
		}
		wantEqual(t, "told", told, 1)
	})
}

func TestNoRoomToSayWhatIsWaitedFor(t *testing.T) {
	virtual(t, func(t *testing.T) {
		cs := circle(t, 2)
		opts := &lock.MutexOptions{Meta: map[string]string{"why": fmt.Sprintf("%04052d", 1)}}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		together, done := make(chan struct{}), make(chan error, 2)
		names := []string{"a", "b"}
		for i, c := range cs {
			go func() { done <- both(ctx, c.Mutex(names[i], opts), c.Mutex(names[1-i], opts), together) }()
		}
		synctest.Wait()
		close(together)
		wantErr(t, errors.Join(<-done, <-done), lock.ErrDeadlock)
	})
}

func TestCircleOverTwoStoresIsMissed(t *testing.T) {
	virtual(t, func(t *testing.T) {
		s := []*memlock.Store{memlock.NewStore(nil), memlock.NewStore(nil)}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		together, done := make(chan struct{}), make(chan error, 4)
		names := []string{"a", "b", "c", "d"}
		for i := range 4 {
			one, two := open(t, memlock.NewBackend(s[i%2]), nil), open(t, memlock.NewBackend(s[(i+1)%2]), nil)
			go func() { done <- both(ctx, one.Mutex(names[i], nil), two.Mutex(names[(i+1)%4], nil), together) }()
		}
		synctest.Wait()
		close(together)
		wantErr(t, errors.Join(<-done, <-done, <-done, <-done), lock.ErrDeadlock)
	})
}
