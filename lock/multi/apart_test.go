package multi_test

import (
	"context"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/lock/multi"
)

// guessing is a backend that does not know what its store can, as that of a server's client.
type guessing struct {
	driver.Backend

	asked *int
}

func (guessing) Together([]string) bool { return true }

func (g guessing) AcquireAll(context.Context, []driver.Request) ([]driver.Grant, error) {
	*g.asked++
	return nil, driver.ErrUnsupported
}

// TestAWrongGuessFailsTheCaller: the locks are taken one after the other then, and nobody asks again.
func TestAWrongGuessFailsTheCaller(t *testing.T) {
	virtual(t, func(t *testing.T) {
		asked := 0
		m := of(open(t, guessing{memlock.NewBackend(nil), &asked}), "a", "b", "c")
		mustUnlock(t, mustLock(t, m))
		lease, err := m.TryLock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		mustUnlock(t, lease)
		if asked != 2 {
			t.Errorf("asked %d times for two calls", asked)
		}
	})
}

// counting is a store in memory that counts what it is asked for in one step.
type counting struct {
	driver.Backend
	driver.Timekeeper
	driver.Bundler

	asked *int
}

func (c counting) AcquireAll(ctx context.Context, reqs []driver.Request) ([]driver.Grant, error) {
	*c.asked++
	return c.Bundler.AcquireAll(ctx, reqs)
}

// TestEachLockOfAWaitCostsARequest: what is before the one that somebody has is taken without asking for all again and
// again, and what is after it with one request.
func TestEachLockOfAWaitCostsARequest(t *testing.T) {
	virtual(t, func(t *testing.T) {
		b, asked := memlock.NewBackend(nil), 0
		locks := open(t, counting{b, b.(driver.Timekeeper), b.(driver.Bundler), &asked})
		other := mustLock(t, of(open(t, b), "c"))
		done := make(chan *multi.Lease, 1)
		go func() { done <- mustLock(t, of(locks, "a", "b", "c", "d", "e")) }()
		<-time.After(time.Minute)
		mustUnlock(t, other)
		mustUnlock(t, <-done)
		if asked != 2 {
			t.Errorf("asked %d times for several at once, want once for all and once for those behind", asked)
		}
	})
}
