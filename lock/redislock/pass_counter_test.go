package redislock_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// TestCounterIsHarmedWhileSomebodyStands: tokens were reserved by then, and others are given out after that: they rise
// from one holder to the next all the same.
func TestCounterIsHarmedWhileSomebodyStands(t *testing.T) {
	const counter = "redisson_lock_token:{a}"
	future := strconv.FormatInt(time.Now().Add(time.Hour).UnixMicro(), 10)
	for name, h := range map[string]harm{
		"deleted":            {do: func(s *testenv.RedisServer) { s.Do("DEL", counter) }, asksAgain: true},
		"counted on by Java": {do: func(s *testenv.RedisServer) { s.Do("INCR", counter) }, asksAgain: true},
		"ahead of the clock": {do: func(s *testenv.RedisServer) { s.Do("SET", counter, future) }, asksAgain: true},
		"stale":              {do: func(s *testenv.RedisServer) { s.Do("SET", counter, 5) }},
		"no number": {
			do:   func(s *testenv.RedisServer) { s.Do("SET", counter, "none") },
			mend: func(s *testenv.RedisServer) { s.Do("DEL", counter) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
				h := h
				for h.before = range 3 {
					server := testenv.Redis(t, nil)
					passAlong(t, server, func() redisconn.Conn { return connect(t, single(server)) }, h)
				}
			})
		})
	}
}

// harm is what somebody does to a counter.
type harm struct {
	do        func(*testenv.RedisServer)
	before    int                        // the first one asks, the second, or the lock is released
	asksAgain bool                       // the holder, and is told its tokens
	mend      func(*testenv.RedisServer) // after the release, so that there are tokens again
}

// passAlong has a lock go from one client to two that want it, whether they can stand or not.
func passAlong(t *testing.T, server *testenv.RedisServer, conn func() redisconn.Conn, h harm) {
	t.Helper()
	var last uint64
	check := func(who string, g driver.Grant) {
		t.Helper()
		if g.Token <= last || g.Tokens < 1 {
			t.Errorf("harmed before %d asks: %s has %d tokens from %d, after %d",
				h.before, who, g.Tokens, g.Token, last)
		}
		last = g.Token + uint64(g.Tokens) - 1
	}
	a := open(t, conn(), nil)
	g := held(t, a, "a", uuidA+":1")
	check("the first", g)
	waiting := []waiter{
		{newStander(t, conn(), uuidB, "a"), request("a", uuidB+":1")},
		{newStander(t, conn(), uuidC, "a"), request("a", uuidC+":1")},
	}
	for i, w := range waiting {
		if h.before == i {
			h.do(server)
		}
		req := w.req
		req.Tokens = 16
		for range 3 { // it need not stand
			w.refused(t, req)
		}
	}
	if h.before == len(waiting) {
		h.do(server)
	}
	if h.asksAgain {
		again := held(t, a, "a", uuidA+":1")
		if again.Token < last {
			t.Errorf("the first is told %d when it asks again, after %d", again.Token, last)
		}
		last = again.Token
	}
	mustRelease(t, a, g)
	if h.mend != nil {
		h.mend(server)
	}
	for len(waiting) > 0 {
		i, g := firstToOwn(t, waiting)
		check(g.Owner, g)
		mustRelease(t, waiting[i], g)
		waiting = slices.Delete(waiting, i, i+1)
	}
	g = held(t, a, "a", uuidA+":2")
	check("the last", g)
	mustRelease(t, a, g)
}

// waiter is one that waits, and what it asks for.
type waiter struct {
	*stander
	req driver.Request
}

// firstToOwn returns which of those who wait is granted the lock, unasked or not, and what it is granted: one that
// could not stand in time comes after one that stands.
func firstToOwn(t *testing.T, waiting []waiter) (first int, grant driver.Grant) {
	t.Helper()
	until(t, "a grant", func() bool {
		for first = range waiting {
			if grant = waiting[first].own(t); grant.Tokens > 0 {
				return true
			}
		}
		return false
	})
	return first, grant
}

// own returns what it was told, or is granted when it asks: no tokens if that is nothing.
func (w waiter) own(t *testing.T) driver.Grant {
	t.Helper()
	select {
	case g := <-w.told:
		return g
	default:
	}
	g, err := w.stand(t, w.req)
	if err != nil && !errors.Is(err, driver.ErrHeld) {
		t.Fatal(err)
	}
	return g
}

// TestForcedReleaseWithALine: those who stood have the lock by asking, one after the other, and with tokens above those
// by which their former holders are kept out.
func TestForcedReleaseWithALine(t *testing.T) {
	each(t, func(t *testing.T, connect func(testing.TB, target) redisconn.Conn) {
		server := testenv.Redis(t, nil)
		a := open(t, connect(t, single(server)), nil)
		g := held(t, a, "a", uuidA+":1")
		b := newStander(t, connect(t, single(server)), uuidB, "a")
		c := newStander(t, connect(t, single(server)), uuidC, "a")
		b.stands(t, request("a", uuidB+":1"))
		c.stands(t, request("a", uuidC+":1"))
		if freed, err := a.(driver.Forcer).ForceRelease(ctxFor(t), "a"); err != nil || !freed {
			t.Fatal(freed, err)
		}
		raised, err := strconv.ParseUint(fmt.Sprint(server.Do("GET", "redisson_lock_token:{a}")), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Release(ctxFor(t), g); !errors.Is(err, driver.ErrLost) {
			t.Errorf("its former holder releases it: %v", err)
		}
		next := c.ownOrAsk(t, false, request("a", uuidC+":1")) // out of turn: there is no line any more
		b.stands(t, request("a", uuidB+":1"))
		mustRelease(t, c, next)
		last := b.granted(t)
		mustRelease(t, b, last)
		if next.Token <= raised || last.Token < next.Token+uint64(next.Tokens) {
			t.Errorf("tokens %d and %d after %d", next.Token, last.Token, raised)
		}
		if server.Do("EXISTS", "a") != int64(0) {
			t.Error("a claim of before has come to life")
		}
	})
}
