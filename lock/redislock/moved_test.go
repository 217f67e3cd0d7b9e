package redislock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// moved is a cluster whose slots have moved since its client looked.
type moved struct {
	redisconn.Conn
	looked bool
}

func (m *moved) Cluster() bool { return true }

func (m *moved) Owner(_ context.Context, _ string, again bool) (string, error) {
	if m.looked = m.looked || again; m.looked {
		return "new", nil
	}
	return "old", nil
}

func (m *moved) Listen(_ context.Context, node string, sink redisconn.Sink) (redisconn.Listener, error) {
	if node == "old" {
		return nil, redisconn.Mark(redisconn.Unavailable, errors.New("the client does not know server old"))
	}
	return obliging{sink}, nil
}

// obliging is a connection whose every subscription is confirmed.
type obliging struct{ sink redisconn.Sink }

func (l obliging) Subscribe(_ context.Context, channel string, _ bool) error {
	l.sink.Subscribed(channel)
	return nil
}

func (l obliging) Unsubscribe(_ context.Context, channel string, _ bool) error {
	l.sink.Unsubscribed(channel)
	return nil
}

func (l obliging) Close() {}

// TestNobodyListensAgainAfterSlotsHaveMoved: nobody listened when they did, so that no
// subscription was lost, and what the client remembers was never found to be wrong.
func TestNobodyListensAgainAfterSlotsHaveMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := newBackend(&moved{}, &Options{PubSub: PubSubSharded})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = b.Close() }()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		w, err := b.Watch(ctx, "a", driver.Mutex)
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
	})
}
