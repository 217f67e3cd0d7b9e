package redislock_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// idleness is the longest time for which a lock stood free between two who had it.
type idleness struct {
	mu      sync.Mutex
	free    time.Time // since when it is; zero while somebody has it, and while nobody needs to want it
	longest time.Duration
	had     int
}

// enter records that somebody has the lock.
func (i *idleness) enter() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.free.IsZero() {
		i.longest = max(i.longest, time.Since(i.free))
	}
	i.free = time.Time{}
	i.had++
}

// leave records that the lock is free, unless the next one has it by now or this was the last of a round.
func (i *idleness) leave(turn int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.had == turn && turn%dozen != 0 {
		i.free = time.Now()
	}
}

// end counts what is free still.
func (i *idleness) end() {
	i.enter()
	i.had--
}

func (i *idleness) turn() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.had
}

const dozen = 12

// lateness returns the longest time by which this process ran later than it should, until ctx ends: on a busy
// machine that is not the lock's fault.
func lateness(ctx context.Context) (longest time.Duration) {
	const often = 5 * time.Millisecond
	tick := time.NewTicker(often)
	defer tick.Stop()
	for last := time.Now(); ; last = time.Now() {
		select {
		case <-tick.C:
			longest = max(longest, time.Since(last)-often)
		case <-ctx.Done():
			return longest
		}
	}
}

// playRound lets each of a dozen goroutines have the lock once. Who has had it does not ask again, for it would find
// out by that what the others have not heard of.
func (i *idleness) playRound(ctx context.Context, clients []*lock.Client) {
	var users sync.WaitGroup
	defer users.Wait()
	for n := range dozen {
		m := clients[n%len(clients)].Mutex("a", nil)
		users.Go(func() {
			l, err := m.Lock(ctx)
			if err != nil {
				return // the time is over
			}
			i.enter()
			turn := i.turn()
			<-time.After(3 * time.Millisecond) // the others fall asleep
			_ = l.Unlock(context.Background())
			i.leave(turn)
		})
	}
}

// mustNotStandFree lets a dozen goroutines have a lock in turns while something is done to the server every 100 ms,
// and fails if nobody has had it for longer than a second, and the time for which the server was away at most.
func mustNotStandFree(t *testing.T, away time.Duration, trouble func(n int), clients ...*lock.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	var seen idleness
	var late time.Duration
	var users sync.WaitGroup
	users.Go(func() { late = lateness(ctx) })
	users.Go(func() {
		for ctx.Err() == nil {
			seen.playRound(ctx, clients)
		}
	})
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for n := 1; ctx.Err() == nil; n++ {
		select {
		case <-tick.C:
			trouble(n)
		case <-ctx.Done():
		}
	}
	users.Wait()
	seen.end()
	t.Logf("had %d times, free for %v at most, this process late by %v", seen.had, seen.longest, late)
	if seen.longest > time.Second+away+late {
		t.Errorf("a dozen wanted it, and it stood free for %v", seen.longest)
	}
	if seen.had < 10 {
		t.Errorf("it was had %d times in 3 s", seen.had)
	}
}

// clientsOf returns so many clients that give the lock back after every lease: none is passed on in their process.
func clientsOf(t *testing.T, number int, connect func() redisconn.Conn) []*lock.Client {
	t.Helper()
	clients := make([]*lock.Client, number)
	for i := range clients {
		locks, err := redislock.New(connect(), &redislock.Options{
			Lock: lock.Options{HandOff: lock.HandOff{Count: -1}},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = locks.Stop(ctxFor(t)) })
		clients[i] = locks
	}
	return clients
}

// unconfirmed is a connection whose subscriptions are confirmed for so many times, and are never heard of again.
type unconfirmed struct {
	redisconn.Conn
	good int32
}

// Listen implements redisconn.Conn.
func (c *unconfirmed) Listen(ctx context.Context, node string, sink redisconn.Sink) (redisconn.Listener, error) {
	l, err := c.Conn.Listen(ctx, node, sink)
	if err != nil {
		return nil, err
	}
	return &forgetfulListener{l, &c.good}, nil
}

type forgetfulListener struct {
	redisconn.Listener
	good *int32
}

// Subscribe implements redisconn.Listener.
func (l *forgetfulListener) Subscribe(ctx context.Context, channel string, sharded bool) error {
	if atomic.AddInt32(l.good, -1) < 0 {
		return nil
	}
	return l.Listener.Subscribe(ctx, channel, sharded)
}

// TestKilledSubscriptionsLeaveALockFree: ten times a second nobody hears of anything. Who wants the lock asks all the
// same, and soon: also while the next subscription is not confirmed, which takes seconds to find out.
func TestKilledSubscriptionsLeaveALockFree(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds of real time")
	}
	for what, test := range map[string]struct {
		clients int
		good    int32 // subscriptions of a client that are confirmed; 0: all
	}{
		"two clients":                        {clients: 2},
		"a client each":                      {clients: dozen},
		"two clients, never confirmed":       {clients: 2, good: -1},
		"a client each, not confirmed again": {clients: dozen, good: 2},
	} {
		t.Run(what, func(t *testing.T) {
			each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
				server := testenv.Redis(t, nil)
				clients := clientsOf(t, test.clients, func() redisconn.Conn {
					conn := connect(t, single(server))
					if test.good == 0 {
						return conn
					}
					return &unconfirmed{conn, test.good}
				})
				mustNotStandFree(t, 0, func(int) { server.Do("CLIENT", "KILL", "TYPE", "pubsub") }, clients...)
			})
		})
	}
}

// TestServerFrozenWhileSubscribing: the server stands still just when everybody listens anew.
func TestServerFrozenWhileSubscribing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds of real time")
	}
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		clients := clientsOf(t, dozen, func() redisconn.Conn { return connect(t, single(server)) })
		mustNotStandFree(t, 500*time.Millisecond, func(n int) {
			switch n % 10 {
			case 1:
				server.Do("CLIENT", "KILL", "TYPE", "pubsub")
				server.Freeze()
			case 5:
				server.Thaw()
			}
		}, clients...)
		server.Thaw()
	})
}
