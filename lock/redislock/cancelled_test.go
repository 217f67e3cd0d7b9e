package redislock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	goredisclient "github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// TestARequestThatWasCancelledArrivesAfterItsCleanUp: it is held up on its connection, as
// by a packet that has to be sent again, and what cleans up after it takes others. It must
// be waited for all the same.
func TestARequestThatWasCancelledArrivesAfterItsCleanUp(t *testing.T) {
	heeding := library{"goredis, heeding deadlines", func(t testing.TB, to target) redisconn.Conn {
		client := goredisclient.NewClient(&goredisclient.Options{Addr: to.addrs[0], ContextTimeoutEnabled: true})
		t.Cleanup(func() { _ = client.Close() })
		return goredis.Wrap(client)
	}}
	for _, l := range append(libraries(), heeding) {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			t.Run("cancelled", func(t *testing.T) {
				t.Parallel()
				cancelledRequestArrivesLate(t, l, context.WithCancel)
			})
			t.Run("timed out", func(t *testing.T) {
				t.Parallel()
				cancelledRequestArrivesLate(t, l, func(ctx context.Context) (context.Context, context.CancelFunc) {
					return context.WithTimeout(ctx, arrivesLate/4)
				})
			})
		})
	}
}

const arrivesLate = 2 * time.Second

func cancelledRequestArrivesLate(
	t *testing.T, l library, limit func(context.Context) (context.Context, context.CancelFunc),
) {
	t.Helper()
	server := testenv.Redis(t, nil)
	proxy := proxyTo(t, server)
	far := l.connect(t, target{addrs: []string{proxy.Addr()}})
	locks, err := redislock.New(far, &redislock.Options{Profile: redislock.Redlock, Lock: lock.Options{TTL: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = locks.Stop(ctxFor(t)) })
	lease, err := locks.Mutex("warm up", nil).Lock(ctxFor(t)) // connections and scripts are there from here on
	if err != nil || lease.Unlock(ctxFor(t)) != nil {
		t.Fatal(err)
	}
	proxy.Delay(arrivesLate)
	ctx, cancel := limit(context.Background())
	time.AfterFunc(arrivesLate/4, func() { proxy.Delay(0); cancel() }) // so late that its connection is in doubt
	if _, err := locks.Mutex("a", nil).Lock(ctx); ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
		t.Error(err)
	}
	<-time.After(2 * arrivesLate) // it has arrived, and what came after it
	if left := residue(server); len(left) > 0 {
		t.Errorf("locks that nobody has: %v", left)
	}
}
