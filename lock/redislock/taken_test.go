package redislock_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// TestEveryHolderIsToldOfForce: whatever is taken away from whomever, the message ends the context of the lease.
func TestEveryHolderIsToldOfForce(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		forces := clientOn(t, connect(t, single(server)))
		var holders []*lock.Client
		for range 3 {
			c := clientOn(t, connect(t, single(server)))
			lease := lockIn(t, c, "listens")
			client, _, _ := strings.Cut(lease.Owner(), ":")
			awaitListeners(t, server, "bedrock_client:"+client[:18], 1)
			if err := lease.Unlock(ctxFor(t)); err != nil {
				t.Fatal(err)
			}
			holders = append(holders, c)
		}
		for name, of := range holdings() {
			t.Run(name, func(t *testing.T) {
				leases := holdAll(t, name, holders[:of.holders], of.lock)
				if held, err := forces.ForceRelease(ctxFor(t), name); !held || err != nil {
					t.Fatal(held, err)
				}
				for _, lease := range leases {
					<-lease.Context().Done()
					wantLost(t, lease, true)
				}
			})
		}
	})
}

// holding is a way to have a lock, and how many have it at once.
type holding struct {
	holders int
	lock    func(c *lock.Client, name string) lock.Lockable
}

// holdings returns all of them.
func holdings() map[string]holding {
	return map[string]holding{
		"mutex": {1, func(c *lock.Client, name string) lock.Lockable { return c.Mutex(name, nil) }},
		"fair": {1, func(c *lock.Client, name string) lock.Lockable {
			return c.Mutex(name, &lock.MutexOptions{Fair: true})
		}},
		"writer":  {1, func(c *lock.Client, name string) lock.Lockable { return c.RWMutex(name, nil).Writer() }},
		"readers": {3, func(c *lock.Client, name string) lock.Lockable { return c.RWMutex(name, nil).Reader() }},
		"semaphore": {3, func(c *lock.Client, name string) lock.Lockable {
			return c.Semaphore(name, 7, nil).Permits(2)
		}},
	}
}

// holdAll has each client hold the name.
func holdAll(
	t *testing.T, name string, by []*lock.Client, of func(*lock.Client, string) lock.Lockable,
) (leases []*lock.Lease) {
	t.Helper()
	for _, c := range by {
		lease, err := of(c, name).TryLock(ctxFor(t))
		if err != nil {
			t.Fatal(err)
		}
		leases = append(leases, lease)
		t.Cleanup(func() { _ = lease.Unlock(context.Background()) })
	}
	return leases
}
