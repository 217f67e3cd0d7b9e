package redislock_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// intercepted is a connection whose messages of grants are kept back: they are told when the test wants it.
type intercepted struct {
	redisconn.Conn

	mu   sync.Mutex
	kept []func()
}

// Listen implements redisconn.Conn.
func (c *intercepted) Listen(ctx context.Context, node string, sink redisconn.Sink) (redisconn.Listener, error) {
	return c.Conn.Listen(ctx, node, &interceptedSink{sink, c})
}

type interceptedSink struct {
	redisconn.Sink
	conn *intercepted
}

// Message implements redisconn.Sink.
func (s *interceptedSink) Message(channel, text string) {
	if !strings.HasPrefix(text, "granted ") {
		s.Sink.Message(channel, text)
		return
	}
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	s.conn.kept = append(s.conn.kept, func() { s.Sink.Message(channel, text) })
}

// message returns what tells the client of the last grant, as soon as there is one.
func (c *intercepted) message(t *testing.T) (tell func()) {
	t.Helper()
	until(t, "a message", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.kept) > 0 {
			tell = c.kept[len(c.kept)-1]
		}
		return tell != nil
	})
	return tell
}

// keptBack is a lock that was passed on to a client which hears nothing of it.
type keptBack struct {
	server      *testenv.RedisServer
	near, other *lock.Client
	next        <-chan outcome // what the Lock comes to that was granted it
	released    time.Time
	tell        func()
}

func newKeptBack(t *testing.T, connect func(testing.TB, target) redisconn.Conn) *keptBack {
	t.Helper()
	server := testenv.Redis(t, nil)
	conn := &intercepted{Conn: connect(t, single(server))}
	opts := lock.Options{TTL: briefClaim}
	k := &keptBack{server: server, near: attentiveClient(t, server, conn, opts)}
	k.other = attentiveClient(t, server, connect(t, single(server)), opts)
	a := open(t, connect(t, single(server)), nil)
	g := held(t, a, "a", uuidA+":1")
	c := newStander(t, connect(t, single(server)), uuidC, "a")
	c.stands(t, request("a", uuidC+":1"))
	k.next = later(ctxFor(t), k.near.Mutex("a", nil))
	inLine(t, server, "a", 2)
	asked := evalshaCalls(t, server)
	mustRelease(t, a, g)
	g = c.granted(t)
	// Who waits hears of that, as of any life that is cut short, and asks; the next one it will not hear of.
	until(t, "the wake-up", func() bool { return evalshaCalls(t, server) >= asked+2 })
	k.released = time.Now()
	mustRelease(t, c, g)
	k.tell = conn.message(t)
	return k
}

// hasIt fails the test unless a lease is there and nobody else can have the lock.
func (k *keptBack) hasIt(t *testing.T, lease *lock.Lease, other *lock.Client) {
	t.Helper()
	if _, err := other.Mutex("a", nil).TryLock(ctxFor(t)); err == nil || lease.Err() != nil {
		t.Errorf("the lease: %v; granted to another: %t", lease.Err(), err == nil)
	}
	if k.server.Do("HEXISTS", "a", lease.Owner()) != int64(1) {
		t.Error("the server has given it to somebody else")
	}
}

func mustEnd(t *testing.T, lease *lock.Lease) {
	t.Helper()
	if err := lease.Unlock(ctxFor(t)); err != nil {
		t.Error(err)
	}
}

// TestMessageOfAGrant is lost, comes twice, or late: who was granted the lock has it soon, and nobody else's is
// taken away by it.
func TestMessageOfAGrantIsLateLostOrDoubled(t *testing.T) {
	for name, test := range map[string]func(t *testing.T, k *keptBack){
		"lost": func(t *testing.T, k *keptBack) {
			got := leaseOf(t, k.next)
			if took := got.at.Sub(k.released); took > askedAgain+slack {
				t.Errorf("it had the lock after %s", took)
			}
			k.hasIt(t, got.lease, k.other)
			mustEnd(t, got.lease)
		},
		"doubled": func(t *testing.T, k *keptBack) {
			k.tell()
			k.tell()
			got := leaseOf(t, k.next)
			k.tell()
			k.hasIt(t, got.lease, k.other)
			mustEnd(t, got.lease)
			k.tell()
			mustEnd(t, mustTry(t, k.other))
		},
		"after the grant was found": func(t *testing.T, k *keptBack) {
			got := leaseOf(t, k.next)
			k.tell()
			k.hasIt(t, got.lease, k.other)
			mustEnd(t, got.lease)
		},
		"after the release": func(t *testing.T, k *keptBack) {
			mustEnd(t, leaseOf(t, k.next).lease)
			k.tell()
			mustEnd(t, mustTry(t, k.other))
		},
		"when somebody else has it": func(t *testing.T, k *keptBack) {
			mustEnd(t, leaseOf(t, k.next).lease)
			lease := mustTry(t, k.other)
			again := later(ctxFor(t), k.near.Mutex("a", nil))
			inLine(t, k.server, "a", 1)
			k.tell()
			k.hasIt(t, lease, k.near)
			mustEnd(t, lease)
			mustEnd(t, leaseOf(t, again).lease)
		},
		"after it was lost": func(t *testing.T, k *keptBack) {
			got := leaseOf(t, k.next)
			if freed, err := k.other.ForceRelease(ctxFor(t), "a"); err != nil || !freed {
				t.Fatal(freed, err)
			}
			lease := mustTry(t, k.other)
			<-got.lease.Context().Done()
			k.tell()
			k.hasIt(t, lease, k.near)
			mustEnd(t, lease)
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
				test(t, newKeptBack(t, connect))
			})
		})
	}
}

// mustTry takes the lock "a", which must be free, or be so at once: what nobody wants is given back meanwhile.
func mustTry(t *testing.T, locks *lock.Client) *lock.Lease {
	t.Helper()
	var lease *lock.Lease
	until(t, "the lock is free", func() bool {
		var err error
		lease, err = locks.Mutex("a", nil).TryLock(ctxFor(t))
		return err == nil
	})
	return lease
}

// TestReleaserDies: before its request has reached the server, the lock is held for the rest of its life; after that
// the next one has it, whether anybody hears the answer or not.
func TestReleaserDies(t *testing.T) {
	for name, tt := range map[string]struct {
		die         func(p *chaos.Proxy)
		least, most time.Duration
		released    bool // its caller knows
	}{
		"before": {
			die: func(p *chaos.Proxy) { p.BlackHole(chaos.Requests) }, least: briefClaim / 4, most: briefClaim + slack,
		},
		"after": {die: func(p *chaos.Proxy) { p.BlackHole(chaos.Replies) }, most: briefClaim / 4},
		"never, but the answer is lost": {
			die: func(p *chaos.Proxy) { p.DropRepliesTo("evalsha", 1) }, most: briefClaim / 4, released: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
				server := testenv.Redis(t, nil)
				proxy := proxyTo(t, server)
				far := open(t, connect(t, target{addrs: []string{proxy.Addr()}, onePipe: true}), nil)
				mustRelease(t, far, mustAcquire(t, far, request("warm up", uuidA+":1")))
				b := attentiveClient(t, server, connect(t, single(server)), lock.Options{TTL: briefClaim})
				g := mustAcquire(t, far, driver.Request{
					Name: "a", Owner: uuidA + ":2", TTL: briefClaim, Tokens: 4, Meta: `{"host":"h"}`,
				})
				next := later(ctxFor(t), b.Mutex("a", nil))
				inLine(t, server, "a", 1)
				tt.die(proxy)
				died := time.Now()
				ctx, cancel := context.WithTimeout(ctxFor(t), 2*briefClaim)
				defer cancel()
				gave := make(chan error, 1)
				go func() {
					_, err := far.Release(ctx, g)
					gave <- err
				}()
				got := leaseOf(t, next)
				if took := got.at.Sub(died); took < tt.least || took > tt.most {
					t.Errorf("the next one had the lock after %s, want %s to %s", took, tt.least, tt.most)
				}
				if !tt.released {
					cancel()
				}
				if err := <-gave; (err == nil) != tt.released {
					t.Errorf("release: %v", err)
				}
				if got.lease.Token() < g.Token+uint64(g.Tokens) {
					t.Errorf("token %d after %d", got.lease.Token(), g.Token)
				}
				mustEnd(t, got.lease)
				proxy.Heal()
			})
		})
	}
}

// TestScriptsAreForgottenWhileSomebodyStands: the server is told them again, and the lock is passed on.
func TestScriptsAreForgottenWhileSomebodyStands(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		a := open(t, connect(t, single(server)), nil)
		g := held(t, a, "a", uuidA+":1")
		b := newStander(t, connect(t, single(server)), uuidB, "a")
		c := newStander(t, connect(t, single(server)), uuidC, "a")
		b.stands(t, request("a", uuidB+":1"))
		server.Do("SCRIPT", "FLUSH")
		c.stands(t, request("a", uuidC+":1"))
		server.Do("SCRIPT", "FLUSH")
		mustRelease(t, a, g)
		next := b.granted(t)
		server.Do("SCRIPT", "FLUSH")
		mustRelease(t, b, next)
		mustRelease(t, c, c.granted(t))
	})
}
