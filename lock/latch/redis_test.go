package latch_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/latch"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn/goredis"
)

// openAt returns a process that uses a server, and a connection to that.
func openAt(t *testing.T, addr string) (process, *redis.Client) {
	t.Helper()
	conn := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { conn.Close() })
	backend, err := redislock.NewBackend(goredis.Wrap(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	faulty := bedrocktest.NewBackend(backend)
	return process{faulty, open(t, faulty)}, conn
}

// wantSubscribers waits until there are so many at a channel.
func wantSubscribers(t *testing.T, conn *redis.Client, channel string, want int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		n, err := conn.PubSubNumSub(ctx, channel).Result()
		if err != nil {
			t.Fatalf("%v listen, want %d: %v", n, want, err)
		}
		if n[channel] == want {
			return
		}
	}
}

// TestEachWhoAwaitsHasASubscription: those of one process share one; all are woken, and nothing is left.
func TestEachWhoAwaitsHasASubscription(t *testing.T) {
	t.Parallel()
	addr := testenv.Redis(t, nil).Addr()
	one, conn := openAt(t, addr)
	other, _ := openAt(t, addr)
	const channel = "redisson_countdownlatch__channel__{parts}"
	set(t, one.latch(nil), 2)
	var waits []<-chan awaited
	for range 50 {
		waits = append(waits, await(t.Context(), one.latch(nil)), await(t.Context(), other.latch(nil)))
	}
	wantSubscribers(t, conn, channel, 2)
	countDown(t, other.latch(nil), 1)
	opened := time.Now()
	countDown(t, other.latch(nil), 0)
	for _, w := range waits {
		if a := <-w; a.err != nil {
			t.Errorf("woken after %s: %v", a.after, a.err)
		}
	}
	if took := time.Since(opened); took > time.Second {
		t.Errorf("all are woken after %s", took)
	}
	wantSubscribers(t, conn, channel, 0)
	if keys, err := conn.Exists(t.Context(), "parts").Result(); err != nil || keys != 0 {
		t.Errorf("%d keys are left, error %v", keys, err)
	}
}

// TestALostReplyCountsTwiceOnRedis: a call is recognised there, too, and by the process alone that has made it.
func TestALostReplyCountsTwiceOnRedis(t *testing.T) {
	t.Parallel()
	addr := testenv.Redis(t, nil).Addr()
	p, _ := openAt(t, addr)
	l := p.latch(nil)
	lost := bedrocktest.Fault{After: bedrocktest.ErrReplyLost}
	p.backend.Fail(bedrocktest.SetLatch, lost)
	set(t, l, 5)
	for left := 4; left >= 0; left-- {
		p.backend.Fail(bedrocktest.CountDown, lost, lost)
		countDown(t, l, left)
	}
	_, err := l.CountDown(t.Context())
	wantErr(t, err, latch.ErrBelowZero)
	wantCount(t, l, 0)
}

// TestAServerThatIsAwayFailsTheWait: not if it comes back in time, whose latches are still there.
func TestAServerThatIsAwayFailsTheWait(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t, nil)
	p, conn := openAt(t, server.Addr())
	l := p.latch(nil)
	set(t, l, 2)
	done := await(t.Context(), l)
	wantSubscribers(t, conn, "redisson_countdownlatch__channel__{parts}", 1)
	server.Freeze()
	counted := make(chan error, 1)
	go func() {
		_, err := l.CountDown(t.Context())
		counted <- err
	}()
	<-time.After(time.Second)
	server.Thaw()
	if err := <-counted; err != nil {
		t.Error(err)
	}
	wantCount(t, l, 1)
	countDown(t, l, 0)
	if a := <-done; a.err != nil {
		t.Errorf("ended after %s: %v", a.after, a.err)
	}
}
