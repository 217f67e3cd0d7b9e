package redislock_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// listensOnce is a connection whose second subscription never begins.
type listensOnce struct {
	redisconn.Conn
	listened atomic.Bool
}

// Listen implements redisconn.Conn.
func (c *listensOnce) Listen(ctx context.Context, node string, sink redisconn.Sink) (redisconn.Listener, error) {
	if c.listened.CompareAndSwap(false, true) {
		return c.Conn.Listen(ctx, node, sink)
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestLostSubscriptionLeavesWaitersAsleep: while a subscription cannot be had again,
// which takes seconds to find out, whoever waits is woken to ask.
func TestLostSubscriptionLeavesWaitersAsleep(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		b := open(t, &listensOnce{Conn: connect(t, single(server))}, nil)
		w, err := b.(driver.Waiter).Watch(ctxFor(t), "a")
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		server.Do("CLIENT", "KILL", "TYPE", "pubsub")
		enough := time.After(2500 * time.Millisecond)
		for i := range 4 {
			select {
			case <-w.C():
			case <-enough:
				t.Fatalf("woken %d times", i)
			}
		}
	})
}
