// Package severaltest makes nodes in memory for tests of locks that are made of several.
package severaltest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/locktest"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// InMemory opens so many nodes in memory, so many of which never answer: the first ones. Combine makes one backend
// of them.
func InMemory(
	nodes, mutes int, combine func(t testing.TB, nodes []driver.Backend) driver.Backend,
) func(testing.TB) locktest.Server {
	return func(testing.TB) locktest.Server {
		var links []locktest.Server
		for range nodes - mutes {
			store := memlock.NewStore(nil)
			connect := func(testing.TB) driver.Backend { return memlock.NewBackend(store) }
			links = append(links, locktest.WithFreeze(connect))
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
				return combine(t, backends)
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
				return combine(t, backends), func(d time.Duration) {
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

// Acquire implements [driver.Backend].
func (muteNode) Acquire(ctx context.Context, _ driver.Request) (driver.Grant, error) {
	<-ctx.Done()
	return driver.Grant{}, ctx.Err()
}

// Renew implements [driver.Backend].
func (muteNode) Renew(ctx context.Context, grants []driver.Grant) []error {
	<-ctx.Done()
	return slices.Repeat([]error{ctx.Err()}, len(grants))
}

// Release implements [driver.Backend].
func (muteNode) Release(ctx context.Context, _ driver.Grant) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

// Close implements [driver.Backend].
func (muteNode) Close() error { return nil }

// Watch implements [driver.Waiter].
func (muteNode) Watch(ctx context.Context, _ string, _ driver.Kind) (driver.Watch, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// Inspect implements [driver.Inspector].
func (muteNode) Inspect(ctx context.Context, _ string) (driver.Info, error) {
	<-ctx.Done()
	return driver.Info{}, ctx.Err()
}

// List implements [driver.Inspector].
func (muteNode) List(ctx context.Context, _ string, _ int) ([]driver.Info, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// ForceRelease implements [driver.Forcer].
func (muteNode) ForceRelease(ctx context.Context, _ string) (bool, error) {
	<-ctx.Done()
	return false, ctx.Err()
}

// Identity implements [driver.Identifier].
func (muteNode) Identity(ctx context.Context) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}
