package goredis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/redisconn"
)

// quietTime is how long a subscription may say nothing before it is asked
// whether it is still there.
const quietTime = 10 * time.Second

// subscriber is a client that makes subscriptions.
type subscriber interface {
	Subscribe(ctx context.Context, channels ...string) *redis.PubSub
}

// listener is a connection for subscriptions. One goroutine reads it.
type listener struct {
	pubsub *redis.PubSub
	sink   redisconn.Sink
	cancel context.CancelFunc // ends what go-redis does before it can be closed
	done   chan struct{}
}

// Listen implements redisconn.Conn.
func (c *conn) Listen(ctx context.Context, node string, sink redisconn.Sink) (redisconn.Listener, error) {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l := &listener{pubsub: c.serverOf(node).Subscribe(ctx), sink: sink, cancel: cancel, done: make(chan struct{})}
	_, err := redisconn.Await(ctx, func() (struct{}, error) { return struct{}{}, l.pubsub.Ping(ctx) })
	if err != nil {
		cancel()
		go l.pubsub.Close() // it waits for a Ping that is still under way
		return nil, classify(err)
	}
	go l.read(life)
	return l, nil
}

// read tells the sink what arrives until the connection ends. go-redis would
// reconnect by itself, but silently: what was missed meanwhile must be known.
func (l *listener) read(ctx context.Context) {
	defer close(l.done)
	err := l.receive(ctx)
	l.cancel()
	_ = l.pubsub.Close()
	l.sink.Broken(err)
}

func (l *listener) receive(ctx context.Context) error {
	asked := false
	for {
		event, err := l.pubsub.ReceiveTimeout(ctx, quietTime)
		var timeout net.Error
		switch {
		case err == nil:
			asked = false
			l.tellSink(event)
		case !asked && errors.As(err, &timeout) && timeout.Timeout():
			asked = true
			if err := l.pubsub.Ping(ctx); err != nil {
				return fmt.Errorf("ping a quiet subscription: %w", err)
			}
		default:
			return err
		}
	}
}

func (l *listener) tellSink(event any) {
	switch e := event.(type) {
	case *redis.Message:
		l.sink.Message(e.Channel, e.Payload)
	case *redis.Subscription:
		switch e.Kind {
		case "subscribe", "ssubscribe":
			l.sink.Subscribed(e.Channel)
		case "unsubscribe", "sunsubscribe":
			l.sink.Unsubscribed(e.Channel)
		}
	}
}

// Subscribe implements redisconn.Listener.
func (l *listener) Subscribe(ctx context.Context, channel string, sharded bool) error {
	return l.request(ctx, channel, sharded, l.pubsub.Subscribe, l.pubsub.SSubscribe)
}

// Unsubscribe implements redisconn.Listener.
func (l *listener) Unsubscribe(ctx context.Context, channel string, sharded bool) error {
	return l.request(ctx, channel, sharded, l.pubsub.Unsubscribe, l.pubsub.SUnsubscribe)
}

// request sends a request. go-redis does not return from a write when ctx ends.
func (l *listener) request(
	ctx context.Context, channel string, sharded bool, classic, shard func(context.Context, ...string) error,
) error {
	_, err := redisconn.Await(ctx, func() (struct{}, error) {
		if sharded {
			return struct{}{}, shard(ctx, channel)
		}
		return struct{}{}, classic(ctx, channel)
	})
	if err != nil {
		return classify(err)
	}
	return nil
}

// Close implements redisconn.Listener.
func (l *listener) Close() {
	l.cancel()
	_ = l.pubsub.Close()
	<-l.done
}
