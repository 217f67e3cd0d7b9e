package redislock_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/redislock"
	"github.com/bedrock-go/bedrock/redisconn"
)

// stander is a client whose requests for a name stand, and what it is told.
type stander struct {
	driver.Backend
	told chan driver.Grant
}

func newStander(t *testing.T, conn redisconn.Conn, client, name string) *stander {
	t.Helper()
	s := &stander{open(t, conn, nil), make(chan driver.Grant, 100)}
	s.Backend.(driver.Successor).Inherit(func(g driver.Grant) { s.told <- g })
	w, err := s.Backend.(driver.Waiter).Watch(ctxFor(t), name, driver.Mutex)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	s.refused(t, request(name, client+":900")) // it listens from then on
	return s
}

func (s *stander) stand(t *testing.T, req driver.Request) (driver.Grant, error) {
	t.Helper()
	req.Meta = `{"host":"h"}`
	return s.Backend.(driver.Successor).Stand(ctxFor(t), req)
}

func (s *stander) refused(t *testing.T, req driver.Request) *driver.HeldError {
	t.Helper()
	_, err := s.stand(t, req)
	held, ok := errors.AsType[*driver.HeldError](err)
	if !ok {
		t.Fatalf("want a refusal, got %v", err)
	}
	return held
}

// stands makes a request that must be refused, and stand as soon as its client's channel is subscribed.
func (s *stander) stands(t *testing.T, req driver.Request) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for ctx := ctxFor(t); ; {
		if s.refused(t, req).Claim == 5*time.Second {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s does not stand", req.Owner)
		}
	}
}

func (s *stander) withdraw(t *testing.T, name, owner string) {
	t.Helper()
	if _, err := s.Release(ctxFor(t), driver.Grant{Name: name, Owner: owner}); !errors.Is(err, driver.ErrLost) {
		t.Errorf("withdraw: %v", err)
	}
}

func (s *stander) granted(t *testing.T) driver.Grant {
	t.Helper()
	select {
	case g := <-s.told:
		return g
	case <-time.After(5 * time.Second):
		t.Fatal("nothing was granted")
		return driver.Grant{}
	}
}

// held takes a lock as package lock does, with something stored beside it.
func held(t *testing.T, b driver.Backend, name, owner string) driver.Grant {
	t.Helper()
	req := request(name, owner)
	req.Meta, req.Tokens = `{"host":"h"}`, 4
	return mustAcquire(t, b, req)
}

const uuidC = "cccccccc-0000-4000-8000-000000000003"

// TestReleaseMakesTheNextOneAsk: a release gives the lock to who stands, with what it asked for,
// and to the next one after that; each with higher tokens.
func TestReleaseMakesTheNextOneAsk(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		for _, name := range []string{"a", "{a}", "x{a}y", "two words"} {
			server := testenv.Redis(t, nil)
			a := open(t, connect(t, single(server)), nil)
			g := held(t, a, name, uuidA+":1")
			second := newStander(t, connect(t, single(server)), uuidB, name)
			third := newStander(t, connect(t, single(server)), uuidC, name)
			req := request(name, uuidB+":1")
			req.Tokens = 8
			second.stands(t, req)
			third.stands(t, request(name, uuidC+":1"))
			second.stands(t, req) // again: it keeps its place, and its tokens
			if waiting, err := a.Release(ctxFor(t), g); waiting != 0 || err != nil {
				t.Errorf("%s: release: %d wait, %v", name, waiting, err)
			}
			next := second.granted(t)
			if next.Owner != req.Owner || next.Tokens < 1 || next.Token < g.Token+uint64(g.Tokens) {
				t.Errorf("%s: got %+v after token %d and %d more", name, next, g.Token, g.Tokens-1)
			}
			if left := server.Do("PTTL", name).(int64); left < 3000 || left > 5000 {
				t.Errorf("%s: it lives for %d ms", name, left)
			}
			mustRelease(t, a, g) // again: it is known
			if err := second.Renew(ctxFor(t), []driver.Grant{next})[0]; err != nil {
				t.Errorf("%s: renew: %v", name, err)
			}
			mustRelease(t, second, next)
			last := third.granted(t)
			if last.Token < next.Token+uint64(next.Tokens) {
				t.Errorf("%s: token %d after %d and %d more", name, last.Token, next.Token, next.Tokens-1)
			}
			mustRelease(t, third, last)
			if server.Do("EXISTS", name) != int64(0) {
				t.Errorf("%s: the lock is still there", name)
			}
		}
	})
}

// TestGrantIsMissed: who stands and has not heard of the grant has it by asking.
func TestGrantIsMissed(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		a := open(t, connect(t, single(server)), nil)
		g := held(t, a, "a", uuidA+":1")
		b := newStander(t, connect(t, single(server)), uuidB, "a")
		req := request("a", uuidB+":1")
		req.Tokens = 8
		b.stands(t, req)
		mustRelease(t, a, g)
		next := b.granted(t)
		again, err := b.stand(t, req)
		if err != nil || again.Token != next.Token+uint64(next.Tokens)-1 || again.Tokens != 1 {
			t.Errorf("asked again: %+v, %v; was granted %+v", again, err, next)
		}
		mustRelease(t, b, again)
	})
}

// TestHoldersTokensAreGivenTwice: whoever asks again under its owner, while others stand behind it, is told
// its own tokens, not those that were reserved since.
func TestHoldersTokensAreGivenTwice(t *testing.T) {
	server := testenv.Redis(t, nil)
	a := open(t, connectGoredis(t, single(server)), nil)
	g := held(t, a, "a", uuidA+":1")
	b := newStander(t, connectGoredis(t, single(server)), uuidB, "a")
	b.stands(t, request("a", uuidB+":1"))
	again := held(t, a, "a", uuidA+":1")
	if last := g.Token + uint64(g.Tokens) - 1; again.Token != last {
		t.Errorf("token %d, was granted %d to %d", again.Token, g.Token, last)
	}
}

// TestClaimOfOneWhoHasGone: it is passed over, whether its client has ended, it has withdrawn, or its
// claim has run out; and the lock is free if there is nobody else.
func TestClaimOfOneWhoHasGone(t *testing.T) {
	channel := "bedrock_client:" + uuidB[:18]
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		for gone, leave := range map[string]func(t *testing.T, s *testenv.RedisServer, b *stander){
			"withdrawn": func(t *testing.T, _ *testenv.RedisServer, b *stander) { b.withdraw(t, "a", uuidB+":1") },
			"closed": func(t *testing.T, s *testenv.RedisServer, b *stander) {
				_ = b.Close()
				awaitListeners(t, s, channel, 0)
			},
			"run out": func(_ *testing.T, s *testenv.RedisServer, _ *stander) {
				s.Do("DEL", "bedrock_heir:{a}:"+uuidB[:18]) // as at its end
			},
		} {
			server := testenv.Redis(t, nil)
			a := open(t, connect(t, single(server)), nil)
			g := held(t, a, "a", uuidA+":1")
			b := newStander(t, connect(t, single(server)), uuidB, "a")
			c := newStander(t, connect(t, single(server)), uuidC, "a")
			b.stands(t, request("a", uuidB+":1"))
			c.stands(t, request("a", uuidC+":1"))
			leave(t, server, b)
			mustRelease(t, a, g)
			next := c.granted(t)
			if next.Token < g.Token+uint64(g.Tokens) {
				t.Errorf("%s: token %d", gone, next.Token)
			}
			mustRelease(t, c, next)
			if server.Do("EXISTS", "a") != int64(0) {
				t.Errorf("%s: the lock is still there", gone)
			}
			if server.Do("PUBLISH", channel, "granted 7 0 1 0 0 after that") == int64(1) {
				if first := b.granted(t); first.Name != "after that" {
					t.Errorf("%s: it was told of %+v", gone, first)
				}
			}
		}
	})
}

// TestStrangersAreKeptOut: whoever listens and stands in no line has a turn after 32 hand-overs, or 100 ms of them.
func TestStrangersAreKeptOut(t *testing.T) {
	server := testenv.Redis(t, nil)
	stranger := open(t, connectGoredis(t, single(server)), nil)
	w, err := stranger.(driver.Waiter).Watch(ctxFor(t), "a", driver.Mutex)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	a := open(t, connectGoredis(t, single(server)), nil)
	g := held(t, a, "a", uuidA+":1")
	clients := []string{uuidB, uuidC}
	all := []*stander{
		newStander(t, connectGoredis(t, single(server)), uuidB, "a"),
		newStander(t, connectGoredis(t, single(server)), uuidC, "a"),
	}
	all[0].stands(t, request("a", uuidB+":1"))
	start := time.Now()
	mustRelease(t, a, g)
	if !heard(w) {
		t.Error("a life that is cut short is not heard of")
	}
	passed := 0
	for server.Do("EXISTS", "a") == int64(1) && passed < 100 {
		if w.Count() > 1 {
			t.Fatal("a hand-over is heard by who waits")
		}
		here, next := passed%2, (passed+1)%2
		g := all[here].granted(t)
		passed++
		all[next].stands(t, request("a", fmt.Sprint(clients[next], ":", passed+1)))
		mustRelease(t, all[here], g)
	}
	took := time.Since(start)
	if early := passed < 32 && took < longestPassed; early || passed > 32 || !heard(w) {
		t.Errorf("passed on %d times in %s, and then it was heard: %t", passed, took, heard(w))
	}
}

// TestFrontPassesOn: two clients to and fro; what is passed on is known by its field.
func TestFrontPassesOn(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		if passed := toAndFro(t, server, connect, single(server), single(server)); passed < 50 {
			t.Errorf("%d of 100 were passed on", passed)
		}
	})
}

// toAndFro lets two clients have a lock 50 times each, and returns how often it was passed on.
func toAndFro(
	t *testing.T, server *testenv.RedisServer, connect func(testing.TB, target) redisconn.Conn, one, other target,
) int {
	var (
		before atomic.Uint64
		passed atomic.Int32
		group  errgroup
	)
	for _, to := range []target{one, other} {
		c, err := redislock.New(connect(t, to), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Stop(context.Background()) })
		group.run(func() error {
			for range 50 {
				lease, err := c.Mutex("a", nil).Lock(ctxFor(t))
				if err != nil {
					return err
				}
				if last := before.Swap(lease.Token()); lease.Token() <= last {
					t.Errorf("token %d after %d", lease.Token(), last)
				}
				if server.Do("HEXISTS", "a", "bedrock:passed") == int64(1) {
					passed.Add(1)
				}
				<-time.After(time.Millisecond) // so that the other one comes meanwhile
				if err := lease.Unlock(ctxFor(t)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.wait(); err != nil {
		t.Error(err)
	}
	return int(passed.Load())
}

// awaitListeners waits until so many listen to a channel.
func awaitListeners(t *testing.T, s *testenv.RedisServer, channel string, want int64) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for ctx := ctxFor(t); ; {
		answer, _ := s.Do("PUBSUB", "NUMSUB", channel).([]any)
		if len(answer) == 2 && answer[1] == want {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s: %v, want %d", channel, answer, want)
		}
	}
}

// errgroup runs functions side by side.
type errgroup struct {
	group sync.WaitGroup
	mu    sync.Mutex
	err   error
}

func (g *errgroup) run(do func() error) {
	g.group.Go(func() {
		if err := do(); err != nil {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.err = errors.Join(g.err, err)
		}
	})
}

func (g *errgroup) wait() error {
	g.group.Wait()
	return g.err
}
