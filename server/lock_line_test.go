package server_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/server"
)

// fairly asks for the lock a in the background, as somebody who waits in line, and returns when that one stands there.
func (s *shop) fairly(t *testing.T, owner, rest string) <-chan answer {
	t.Helper()
	done := s.later(t, `{"name": "a", "owner": "`+owner+`", "fair": true, `+rest+`}`)
	eventually(t, func() bool { return s.standsLast(t, owner) })
	return done
}

// line are the owners in line.
func (s *shop) line(t *testing.T) []driver.InLine {
	t.Helper()
	info, err := s.store.(driver.Inspector).Inspect(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	return info.Line
}

func (s *shop) standsLast(t *testing.T, owner string) bool {
	t.Helper()
	line := s.line(t)
	return len(line) > 0 && line[len(line)-1].Owner == owner
}

func (s *shop) release(t *testing.T, owner string) {
	t.Helper()
	s.post(t, locks+"Release", `{"grant": {"name": "a", "owner": "`+owner+`"}}`).want(t, 200)
}

// TestFairRequestsAreServedInTheirOrder: each waits by itself, and has the lock as soon as it is its turn.
func TestFairRequestsAreServedInTheirOrder(t *testing.T) {
	s := openShop(t)
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "first"}`).want(t, 200)
	owners := []string{"b", "c", "d"}
	answers := make(map[string]<-chan answer)
	for _, owner := range owners {
		answers[owner] = s.fairly(t, owner, `"wait": "20s"`)
	}
	holder, start := "first", time.Now()
	for _, owner := range owners {
		s.release(t, holder)
		for late := range answers {
			if late != owner {
				select {
				case a := <-answers[late]:
					t.Fatalf("%s is served before %s: %s", late, owner, a.body)
				default:
				}
			}
		}
		a := <-answers[owner]
		a.want(t, 200, `"owner":"`+owner+`"`)
		delete(answers, owner)
		holder = owner
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("that took %s: somebody was not told of its turn", took)
	}
}

// TestAPlaceIsKeptForWhoAsksAgain, and given up for who does not say so, before that one has its answer.
func TestAPlaceIsKeptForWhoAsksAgain(t *testing.T) {
	for rest, kept := range map[string]int{
		`"wait": "0.1s"`: 0, `"wait": "0.1s", "waits": true`: 1, `"waits": true`: 1, `"tokens": 1`: 0,
	} {
		s := openShop(t)
		s.post(t, locks+"Acquire", `{"name": "a", "owner": "first"}`).want(t, 200)
		a := s.post(t, locks+"Acquire", `{"name": "a", "owner": "b", "fair": true, `+rest+`}`)
		a.want(t, 409, "already_exists")
		if n := len(s.line(t)); n != kept {
			t.Errorf("%s: %d in line, want %d", rest, n, kept)
		}
		if kept > 0 {
			a.want(t, 409, `"place":1`, `"again":"5s"`)
		}
	}
}

// TestAPlaceIsGivenUpWhenItsCallerHasGone: nobody comes back for it, whatever it has said.
func TestAPlaceIsGivenUpWhenItsCallerHasGone(t *testing.T) {
	for _, rest := range []string{`"wait": "20s"`, `"wait": "20s", "waits": true`} {
		s := openShop(t)
		s.post(t, locks+"Acquire", `{"name": "a", "owner": "first"}`).want(t, 200)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			s.tryPost(ctx, locks+"Acquire", `{"name": "a", "owner": "b", "fair": true, `+rest+`}`)
		}()
		eventually(t, func() bool { return len(s.line(t)) == 1 })
		cancel()
		<-gone
		start := time.Now()
		eventually(t, func() bool { return len(s.line(t)) == 0 })
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("%s: its place is there for %s, until its time is over", rest, took)
		}
	}
}

// TestAReleaseEndsTheWaitOfItsOwner: asked for again, it would be in line once more, and nobody wants what it gets.
func TestAReleaseEndsTheWaitOfItsOwner(t *testing.T) {
	s := openShop(t)
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "first"}`).want(t, 200)
	b := s.fairly(t, "b", `"wait": "20s", "waits": true`)
	c := s.fairly(t, "c", `"wait": "20s", "waits": true`)
	start := time.Now()
	s.post(t, locks+"Release", `{"grant": {"name": "a", "owner": "b"}}`)
	(<-b).want(t, 409, "already_exists")
	if took := time.Since(start); took > time.Second {
		t.Errorf("its call goes on for %s", took)
	}
	if line := s.line(t); len(line) != 1 || line[0].Owner != "c" {
		t.Errorf("in line are %v", line)
	}
	s.release(t, "first")
	(<-c).want(t, 200)
}

// TestAPlaceIsKeptWhileItWaits: for longer than the store keeps it without another request.
func TestAPlaceIsKeptWhileItWaits(t *testing.T) {
	s := openShop(t)
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "first"}`).want(t, 200)
	b := s.fairly(t, "b", `"wait": "20s", "ttl": "0.5s"`)
	came := s.line(t)[0].Since
	start := time.Now()
	eventually(t, func() bool {
		if line := s.line(t); len(line) != 1 || !line[0].Since.Equal(came) {
			t.Fatalf("after %s there are %v in line", time.Since(start), line)
		}
		return time.Since(start) > 1200*time.Millisecond
	})
	s.release(t, "first")
	(<-b).want(t, 200)
}

// TestTheLineIsShown to everybody, without the keys of those who stand in it.
func TestTheLineIsShown(t *testing.T) {
	s := openShop(t)
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "first"}`).want(t, 200)
	b := s.fairly(t, "b", `"waits": true, "meta": {"host": "web-7"}`)
	<-b
	a := s.post(t, locks+"Inspect", `{"name": "a"}`)
	a.want(t, 200)
	line, err := json.Marshal(a.at("lock.line"))
	if err != nil {
		t.Fatal(err)
	}
	want := `"owner":"` + driver.PublicOwner("b") + `"`
	answer{status: 200, body: string(line)}.want(t, 200, want, `"meta":{"host":"web-7"}`, `"since":"20`)
}

// blind is a store that keeps a line, and cannot tell those in it of their turn.
type blind struct {
	driver.Backend
}

// TestAStoreThatTellsNoTurnsIsAskedForThem by who waits at the server, soon enough.
func TestAStoreThatTellsNoTurnsIsAskedForThem(t *testing.T) {
	store := memlock.NewStore(nil)
	s := &shop{
		serve(t, setup{Services: server.Services{Locks: blind{memlock.NewBackend(store)}}}, nil),
		memlock.NewBackend(store),
	}
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "first"}`).want(t, 200)
	b := s.fairly(t, "b", `"wait": "20s"`)
	start := time.Now()
	s.release(t, "first")
	(<-b).want(t, 200)
	if took := time.Since(start); took > time.Second {
		t.Errorf("it has the lock after %s", took)
	}
}

// counted is a store that counts the requests, and tells of turns.
type counted struct {
	driver.Backend
	driver.TurnWaiter
	asks atomic.Int32
}

func (c *counted) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	c.asks.Add(1)
	return c.Backend.Acquire(ctx, req)
}

// TestWhoIsToldOfItsTurnKeepsAsking: it asks to have a place, once it listens, and in time to keep its place.
func TestWhoIsToldOfItsTurnKeepsAsking(t *testing.T) {
	memory := memlock.NewBackend(nil)
	store := &counted{Backend: memory, TurnWaiter: memory.(driver.TurnWaiter)}
	s := serve(t, setup{Services: server.Services{Locks: store}}, nil)
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "first"}`).want(t, 200)
	store.asks.Store(0)
	s.post(t, locks+"Acquire", `{"name": "a", "fair": true, "wait": "1s"}`).want(t, 409)
	if n := store.asks.Load(); n > 3 {
		t.Errorf("in a second it has asked %d times", n)
	}
}

// TestACopyTakesThePlaceAlong: a request is asked twice, as by a caller whose connection was broken; the first ends.
func TestACopyTakesThePlaceAlong(t *testing.T) {
	s := openShop(t)
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "first"}`).want(t, 200)
	copied := s.fairly(t, "b", `"wait": "0.5s"`)
	b := s.later(t, `{"name": "a", "owner": "b", "fair": true, "wait": "20s"}`)
	c := s.fairly(t, "c", `"wait": "20s"`)
	(<-copied).want(t, 409)
	if line := s.line(t); len(line) != 2 || line[0].Owner != "b" {
		t.Errorf("in line are %+v", line)
	}
	s.release(t, "first")
	(<-b).want(t, 200)
	s.release(t, "b")
	(<-c).want(t, 200)
}
