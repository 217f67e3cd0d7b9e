package multi_test

import (
	"context"
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
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
