package daemon_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/daemon"
	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/combination"
	"github.com/bedrock-go/bedrock/lock/quorum"
)

// TestLocksOfAServerOutliveOneOfItsRedis, and another server on the same ones grants none of them.
func TestLocksOfAServerOutliveOneOfItsRedis(t *testing.T) {
	t.Parallel()
	for name, join := range map[string]func(urls []string) (*lockurl.Backend, error){
		"quorum": func(urls []string) (*lockurl.Backend, error) {
			return lockurl.NewQuorum(urls, &quorum.Options{Quarantine: -1})
		},
		"combination": func(urls []string) (*lockurl.Backend, error) {
			return lockurl.NewCombination(urls, &combination.Options{NodeTimeout: time.Second})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servers, urls := make([]*testenv.RedisServer, 3), make([]string, 3)
			for i := range servers {
				servers[i] = testenv.Redis(t, nil)
				urls[i] = "redis://" + servers[i].Addr()
			}
			clients := make([]*lock.Client, 2)
			for i := range clients {
				address := run(t, func(c *daemon.Config) {
					var err error
					if c.Locks, err = join(urls); err != nil {
						t.Fatal(err)
					}
				})
				var err error
				clients[i], err = lock.New(dial(t, address).Backend(), &lock.Options{TTL: 4 * time.Second})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = clients[i].Stop(context.Background()) })
			}
			keepsALock(t, clients[0], clients[1], servers[0].Kill)
		})
	}
}

// keepsALock takes a lock, breaks something, and has it until it is given back.
func keepsALock(t *testing.T, mine, others *lock.Client, breakSomething func()) {
	t.Helper()
	lease, err := mine.Mutex("job", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	breakSomething()
	select {
	case <-lease.Context().Done():
		t.Fatalf("lost: %v", context.Cause(lease.Context()))
	case <-time.After(8 * time.Second): // twice the TTL: it has been renewed meanwhile
	}
	if _, err := others.Mutex("job", nil).TryLock(t.Context()); !errors.Is(err, lock.ErrHeld) {
		t.Errorf("another client: %v", err)
	}
	if err := lease.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	next, err := others.Mutex("job", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if next.Token() <= lease.Token() {
		t.Errorf("token %d after %d", next.Token(), lease.Token())
	}
}
