package multi_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/lock/multi"
)

// The lock comes free at the very moment at which the longest wait is over: there is a lease, or an error.
func TestNeitherLeaseNorError(t *testing.T) {
	neither := 0
	for range 300 {
		synctest.Test(t, func(t *testing.T) {
			cs := clients(t, 1)
			held, err := cs[0].Mutex("a", nil).Lock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(time.Second, func() { _ = held.Unlock(context.Background()) })
			m := multi.New([]lock.Lockable{cs[0].Mutex("a", nil)}, &multi.Options{Wait: time.Second})
			l, err := m.Lock(t.Context())
			if l == nil && err == nil {
				neither++
			}
			if l != nil {
				_ = l.Unlock(context.Background())
			}
		})
	}
	if neither > 0 {
		t.Errorf("neither a lease nor an error %d times of 300", neither)
	}
}

// slow is had a little later.
type slow struct {
	lock.Lockable
	until atomic.Int64
}

func (s *slow) Lock(ctx context.Context) (*lock.Lease, error) {
	l, err := s.Lockable.Lock(ctx)
	end := time.Unix(0, s.until.Load())
	<-time.After(time.Until(end))
	return l, err
}

// The same in real time: the lock is had when the wait is just over.
func TestNeitherLeaseNorErrorInRealTime(t *testing.T) {
	cs := clients(t, 1)
	neither := 0
	for i := range 3000 {
		s := &slow{Lockable: cs[0].Mutex("a", nil)}
		m := multi.New([]lock.Lockable{s}, &multi.Options{Wait: time.Millisecond})
		s.until.Store(time.Now().Add(time.Millisecond + time.Duration(i%50)*2*time.Microsecond).UnixNano())
		l, err := m.Lock(t.Context())
		if l == nil && err == nil {
			neither++
		}
		if l != nil {
			_ = l.Unlock(context.Background())
		}
	}
	if neither > 0 {
		t.Errorf("neither a lease nor an error %d times of 3000", neither)
	}
}

// panicking is a backend that does not work.
type panicking struct {
	driver.Backend
	driver.Timekeeper
}

func (panicking) Acquire(context.Context, driver.Request) (driver.Grant, error) { panic("broken") }

// A backend panics, which the caller survives, as one does who serves HTTP: what was had by then is given back.
func TestPanicKeepsTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cs := clients(t, 2)
		mem := memlock.NewBackend(nil)
		broken := open(t, panicking{mem, mem.(driver.Timekeeper)})
		m := multi.New([]lock.Lockable{cs[0].Mutex("a", nil), broken.Mutex("b", nil)}, nil)
		func() {
			defer func() { _ = recover() }()
			_, _ = m.Lock(t.Context())
		}()
		<-time.After(10 * time.Minute)
		wantHolders(t, cs[1], map[string]bool{"a": false})
	})
}

// A nil in an interface.
func TestNilMutex(t *testing.T) {
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("New panics: %v", p)
		}
	}()
	var none *lock.Mutex
	_, err := multi.New([]lock.Lockable{none}, nil).Lock(t.Context())
	wantErr(t, err, lock.ErrInvalid)
}
