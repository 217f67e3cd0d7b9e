package redislock_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
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
		w, err := b.(driver.Waiter).Watch(ctxFor(t), "a", driver.Mutex)
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

// silent is a connection whose first subscriptions bring no message.
type silent struct {
	redisconn.Conn
	listened chan struct{}
}

// Listen implements redisconn.Conn.
func (c *silent) Listen(ctx context.Context, node string, sink redisconn.Sink) (redisconn.Listener, error) {
	if len(c.listened) == 0 {
		sink = mute{sink}
	}
	c.listened <- struct{}{}
	return c.Conn.Listen(ctx, node, sink)
}

// mute hears no message.
type mute struct{ redisconn.Sink }

// Message implements redisconn.Sink.
func (mute) Message(string, string) {}

// TestSilentSubscriptionIsKept: the server counts who listens on a connection that brings nothing, so that every
// lock passed on waits until its heir asks. It is given up after the first.
func TestSilentSubscriptionIsKept(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		conn := &silent{Conn: connect(t, single(server)), listened: make(chan struct{}, 9)}
		near, deaf := clientOn(t, connect(t, single(server))), clientOn(t, conn)
		for len(conn.listened) < 2 {
			first := lockIn(t, near, "a")
			next := make(chan *lock.Lease, 1)
			go func() {
				lease, _ := deaf.Mutex("a", nil).Lock(ctxFor(t))
				next <- lease
			}()
			awaitListeners(t, server, "redisson_lock__channel:{a}", 1)
			<-time.After(100 * time.Millisecond) // it stands by now
			if err := first.Unlock(ctxFor(t)); err != nil {
				t.Fatal(err)
			}
			lease := <-next
			if lease == nil {
				t.Fatal("it was not granted")
			}
			<-time.After(1500 * time.Millisecond) // so long it may take to be given up
			if err := lease.Unlock(ctxFor(t)); err != nil {
				t.Fatal(err)
			}
		}
	})
}
