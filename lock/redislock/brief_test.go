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

// brief is a server that closes the first connection for subscriptions as soon as it has
// confirmed one.
type brief struct {
	redisconn.Conn
	listened bool
}

func (b *brief) Cluster() bool { return false }

func (b *brief) Listen(_ context.Context, _ string, sink redisconn.Sink) (redisconn.Listener, error) {
	if b.listened {
		return obliging{sink}, nil
	}
	b.listened = true
	return broken{obliging{sink}}, nil
}

// broken is a connection that ends before its user learns that it was subscribed.
type broken struct{ obliging }

func (l broken) Subscribe(ctx context.Context, channel string, sharded bool) error {
	err := l.obliging.Subscribe(ctx, channel, sharded)
	synctest.Wait() // whoever waits for the confirmation has it
	go l.sink.Broken(errors.New("connection reset"))
	synctest.Wait()
	return err
}

// TestWatchIsDeafWhenItsFirstSubscriptionWasBrief: who was told that it listens is woken,
// for a release may have been missed, and hears of those to come.
func TestWatchIsDeafWhenItsFirstSubscriptionWasBrief(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := newBackend(&brief{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = b.Close() }()
		w, err := b.Watch(t.Context(), "a", driver.Mutex)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		select {
		case <-w.C():
		case <-time.After(time.Minute):
			t.Error("not woken")
		}
	})
}
