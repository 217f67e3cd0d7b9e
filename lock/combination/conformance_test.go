package combination_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/lock/combination"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/locktest"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformanceInVirtualTime(t *testing.T) {
	locktest.Run(t, locktest.Backend{Open: inMemory(5, 0), Virtual: true, TTL: 10 * time.Second, Exempt: exempt()})
}

// TestConformanceOfAMajority has two of five nodes hang all the time, the first one among them.
func TestConformanceOfAMajority(t *testing.T) {
	locktest.Run(t, locktest.Backend{Open: inMemory(5, 2), Virtual: true, TTL: 10 * time.Second, Exempt: exempt()})
}

// inMemory opens so many nodes, so many of which hang.
func inMemory(nodes, mutes int) func(testing.TB) locktest.Server {
	return func(testing.TB) locktest.Server {
		var links []locktest.Server
		for range nodes - mutes {
			store := memlock.NewStore(nil)
			links = append(links, locktest.WithFreeze(func(testing.TB) driver.Backend { return memlock.NewBackend(store) }))
		}
		all := func(do func(locktest.Server)) {
			for _, link := range links {
				do(link)
			}
		}
		return locktest.Server{
			Connect: func(t testing.TB) driver.Backend {
				backends := muteNodes(mutes)
				all(func(link locktest.Server) { backends = append(backends, link.Connect(t)) })
				return newBackend(t, backends)
			},
			Freeze: func() { all(func(link locktest.Server) { link.Freeze() }) },
			Thaw:   func() { all(func(link locktest.Server) { link.Thaw() }) },
			Lag: func(t testing.TB) (driver.Backend, func(time.Duration)) {
				backends := muteNodes(mutes)
				var holds []func(time.Duration)
				all(func(link locktest.Server) {
					b, hold := link.Lag(t)
					backends, holds = append(backends, b), append(holds, hold)
				})
				return newBackend(t, backends), func(d time.Duration) {
					for _, hold := range holds {
						hold(d)
					}
				}
			},
		}
	}
}

// muteNode is a node that never answers.
type muteNode struct{ driver.Timekeeper }

func muteNodes(n int) (nodes []driver.Backend) {
	for range n {
		nodes = append(nodes, &muteNode{memlock.NewBackend(nil).(driver.Timekeeper)})
	}
	return nodes
}

func (muteNode) Acquire(ctx context.Context, _ driver.Request) (driver.Grant, error) {
	<-ctx.Done()
	return driver.Grant{}, ctx.Err()
}

func (muteNode) Renew(ctx context.Context, grants []driver.Grant) []error {
	<-ctx.Done()
	return slices.Repeat([]error{ctx.Err()}, len(grants))
}

func (muteNode) Release(ctx context.Context, _ driver.Grant) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

func (muteNode) Close() error { return nil }

func newBackend(t testing.TB, nodes []driver.Backend) driver.Backend {
	t.Helper()
	b, err := combination.NewBackend(nodes, &combination.Options{NodeTimeout: 100 * time.Millisecond, Retry: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// exempt is what a quorum cannot do, whatever its nodes can.
func exempt() map[locktest.Capability]string {
	return map[locktest.Capability]string{
		locktest.Passing:       "no store alone can pass the lock on",
		locktest.Sharing:       "a writer who waits would have to be known to each node while it is refused by others",
		locktest.Permitting:    "a majority of nodes grants more permits than each of them has",
		locktest.Ordering:      "each node would have a line of its own",
		locktest.Telling:       "nobody tells that a lock is wanted, so none lingers",
		locktest.Restarting:    "the stores end with the process",
		locktest.Disconnecting: "the stores have no connections",
		locktest.Striking:      "covered alone",
	}
}
