package rueidis

import (
	"context"
	"sync"

	"github.com/redis/rueidis"

	"github.com/bedrock-go/bedrock/redisconn"
)

// listener is a connection for subscriptions.
type listener struct {
	conn  *dedicated
	ended <-chan error
	done  chan struct{}
	once  sync.Once
}

// Listen implements redisconn.Conn.
func (c *conn) Listen(ctx context.Context, node string, sink redisconn.Sink) (redisconn.Listener, error) {
	client := c.client
	if node != "" {
		if client = c.client.Nodes()[node]; client == nil {
			return nil, unknownServer(node)
		}
	}
	line, err := dedicate(ctx, client)
	if err != nil {
		return nil, err
	}
	if err := c.spares(ctx, client); err != nil {
		line.release()
		return nil, err
	}
	l := &listener{conn: line, done: make(chan struct{})}
	l.ended = l.conn.SetPubSubHooks(rueidis.PubSubHooks{
		OnMessage:      func(m rueidis.PubSubMessage) { sink.Message(m.Channel, m.Message) },
		OnSubscription: func(s rueidis.PubSubSubscription) { tellSink(sink, s) },
	})
	go l.tellBroken(sink)
	return l, nil
}

func tellSink(sink redisconn.Sink, s rueidis.PubSubSubscription) {
	switch s.Kind {
	case "subscribe", "ssubscribe":
		sink.Subscribed(s.Channel)
	case "unsubscribe", "sunsubscribe":
		sink.Unsubscribed(s.Channel)
	}
}

// tellBroken tells the sink when the connection has ended.
func (l *listener) tellBroken(sink redisconn.Sink) {
	defer close(l.done)
	err := <-l.ended
	sink.Broken(err)
}

// Subscribe implements redisconn.Listener.
func (l *listener) Subscribe(ctx context.Context, channel string, sharded bool) error {
	if sharded {
		return l.request(ctx, l.conn.B().Ssubscribe().Channel(channel).Build())
	}
	return l.request(ctx, l.conn.B().Subscribe().Channel(channel).Build())
}

// Unsubscribe implements redisconn.Listener.
func (l *listener) Unsubscribe(ctx context.Context, channel string, sharded bool) error {
	if sharded {
		return l.request(ctx, l.conn.B().Sunsubscribe().Channel(channel).Build())
	}
	return l.request(ctx, l.conn.B().Unsubscribe().Channel(channel).Build())
}

func (l *listener) request(ctx context.Context, cmd rueidis.Completed) error {
	_, err := redisconn.Await(ctx, func() (struct{}, error) { return struct{}{}, l.conn.Do(ctx, cmd).Error() })
	if err != nil && !rueidis.IsRedisNil(err) {
		return classify(err)
	}
	return nil
}

// Close implements redisconn.Listener.
func (l *listener) Close() {
	l.once.Do(func() {
		l.conn.Close()
		l.conn.release()
	})
	<-l.done
}
