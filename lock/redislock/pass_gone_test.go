package redislock_test

import (
	"context"
	"strings"
	"testing"
	"time"

	goredisclient "github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

const (
	briefClaim = time.Second             // of requests for leases of a second
	askedAgain = 400 * time.Millisecond  // how soon who stands asks again then
	slack      = 1500 * time.Millisecond // what a machine under load may be late by
	atOnce     = briefClaim - askedAgain // less than it takes by asking for what a claim has kept
)

// brief asks for a lease of a second, whose claim is as short.
func brief(name, owner string) driver.Request {
	req := request(name, owner)
	req.TTL = briefClaim
	return req
}

// inLine waits until so many stand in line for a lock.
func inLine(t *testing.T, s *testenv.RedisServer, name string, want int) {
	t.Helper()
	until(t, "the line", func() bool {
		line, _ := s.Do("HGET", name, "bedrock:heirs").(string)
		return strings.Count(line, " ") == want
	})
}

// until waits until something holds.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for ctx := ctxFor(t); !holds(); {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s: in vain", what)
		}
	}
}

// attentiveClient returns a client that hears of what it is granted: the first request of its that is refused stands.
func attentiveClient(t *testing.T, s *testenv.RedisServer, conn redisconn.Conn, opts lock.Options) *lock.Client {
	t.Helper()
	locks, err := redislock.New(conn, &redislock.Options{Lock: opts})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = locks.Stop(ctxFor(t)) })
	lease, err := locks.Mutex("elsewhere", nil).TryLock(ctxFor(t))
	if err != nil {
		t.Fatal(err)
	}
	client, number, _ := strings.Cut(lease.Owner(), ":")
	until(t, "the client hears", func() bool {
		s.Do("PUBLISH", "bedrock_client:"+client[:18], "taken "+number+" elsewhere")
		return lease.Context().Err() != nil
	})
	s.Do("DEL", "elsewhere")
	return locks
}

// outcome is what a Lock in another goroutine has come to.
type outcome struct {
	lease *lock.Lease
	err   error
	at    time.Time
}

func later(ctx context.Context, m *lock.Mutex) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		lease, err := m.Lock(ctx)
		done <- outcome{lease, err, time.Now()}
	}()
	return done
}

// leaseOf waits for a Lock in another goroutine, which must succeed.
func leaseOf(t *testing.T, done <-chan outcome) outcome {
	t.Helper()
	select {
	case got := <-done:
		if got.err != nil {
			t.Fatal(got.err)
		}
		return got
	case <-ctxFor(t).Done():
		t.Fatal("it has not got the lock")
		return outcome{}
	}
}

// monitor is somebody who hears everything, and waits for nothing.
func monitor(t *testing.T, s *testenv.RedisServer) {
	t.Helper()
	client := goredisclient.NewClient(&goredisclient.Options{Addr: s.Addr()})
	all := client.PSubscribe(ctxFor(t), "*")
	t.Cleanup(func() { _, _ = all.Close(), client.Close() })
	until(t, "the monitor", func() bool { return s.Do("PUBSUB", "NUMPAT") == int64(1) })
}

// TestHeirThatIsGoneHoldsTheLockUp: whoever is first in line has died, is frozen, or is cut off: the next one has
// the lock at once if that can be told, else when the claim is over, and it has asked then.
func TestHeirThatIsGoneHoldsTheLockUp(t *testing.T) {
	channel := "bedrock_client:" + uuidB[:18]
	die := func(t *testing.T, s *testenv.RedisServer, p *chaos.Proxy) {
		p.Cut()
		awaitListeners(t, s, channel, 0)
	}
	for name, tt := range map[string]struct {
		leave func(t *testing.T, s *testenv.RedisServer, p *chaos.Proxy)
		most  time.Duration
		gets  bool // the lock, though it does not know
	}{
		"killed": {leave: die, most: atOnce},
		"frozen": {
			leave: func(*testing.T, *testenv.RedisServer, *chaos.Proxy) {},
			most:  briefClaim + askedAgain + slack, gets: true,
		},
		"cut off": {
			leave: func(_ *testing.T, _ *testenv.RedisServer, p *chaos.Proxy) { p.BlackHole(chaos.Both) },
			most:  briefClaim + askedAgain + slack, gets: true,
		},
		"killed while somebody hears everything": {
			leave: func(t *testing.T, s *testenv.RedisServer, p *chaos.Proxy) {
				monitor(t, s)
				die(t, s, p)
			},
			most: briefClaim + askedAgain + slack, gets: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
				server := testenv.Redis(t, nil)
				proxy := proxyTo(t, server)
				last := attentiveClient(t, server, connect(t, single(server)), lock.Options{TTL: briefClaim})
				a := open(t, connect(t, single(server)), nil)
				g := held(t, a, "a", uuidA+":1")
				b := newStander(t, connect(t, target{addrs: []string{proxy.Addr()}}), uuidB, "a")
				standBriefly(t, b, brief("a", uuidB+":1"))
				next := later(ctxFor(t), last.Mutex("a", nil))
				inLine(t, server, "a", 2)
				standBriefly(t, b, brief("a", uuidB+":1")) // its claim begins anew
				tt.leave(t, server, proxy)
				released := time.Now()
				mustRelease(t, a, g)
				if has := server.Do("HEXISTS", "a", uuidB+":1") == int64(1); has != tt.gets {
					t.Fatalf("who is gone has the lock: %t", has)
				}
				got := leaseOf(t, next)
				if took := got.at.Sub(released); took > tt.most {
					t.Errorf("the next one had the lock after %s, want %s at most", took, tt.most)
				}
				if server.Do("HEXISTS", "a", uuidB+":1") == int64(1) {
					t.Error("both have it")
				}
				if got.lease.Token() < g.Token+uint64(g.Tokens) {
					t.Errorf("token %d after %d", got.lease.Token(), g.Token)
				}
				if err := got.lease.Unlock(ctxFor(t)); err != nil {
					t.Error(err)
				}
				proxy.Heal()
			})
		})
	}
}

// standBriefly makes a request stand that is for a second.
func standBriefly(t *testing.T, s *stander, req driver.Request) {
	t.Helper()
	until(t, "a request stands", func() bool { return s.refused(t, req).Claim == briefClaim })
}
