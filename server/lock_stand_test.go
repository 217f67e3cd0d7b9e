package server_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/server"
)

// attend has a client hear what it is granted.
func (s *site) attend(t *testing.T, client string) *stream {
	t.Helper()
	to := s.stream(t, locks+"Attend", `{"client": "`+client+`", "listener": "`+client+` listens"}`)
	if begun := to.message(t); begun != "{}" {
		t.Fatalf("began with %s", begun)
	}
	return to
}

// stand asks for the lock a, and to stand in line for it.
func (s *site) stand(t *testing.T, owner string) answer {
	t.Helper()
	return s.post(t, locks+"Acquire", `{"name": "a", "owner": "`+owner+`", "stand": true}`)
}

func (s *site) release(t *testing.T, owner string) answer {
	t.Helper()
	return s.post(t, locks+"Release", `{"grant": {"name": "a", "owner": "`+owner+`"}, "client": "releases"}`)
}

func wantGranted(t *testing.T, to *stream, owner string) {
	t.Helper()
	got := to.message(t)
	for _, part := range []string{
		`"kind":"granted"`, `"name":"a"`, `"owner":"` + owner + `"`, `"token":`, `"tokens":1`, `"ttl":"30s"`,
	} {
		if !strings.Contains(got, part) {
			t.Errorf("told %s, want %s", got, part)
		}
	}
}

// TestWhoStandsIsToldOfNothing: each client hears of its own grants, in the order of coming.
func TestWhoStandsIsToldOfNothing(t *testing.T) {
	s := serve(t, config(t), nil)
	me, you := s.attend(t, "me"), s.attend(t, "you")
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "first:1"}`).want(t, 200)
	s.stand(t, "me:1").want(t, 409, `"claim":"5s"`, `"token":`)
	s.stand(t, "you:7").want(t, 409, `"claim":"5s"`)
	s.stand(t, "me:1").want(t, 409, `"claim":"5s"`) // again: it keeps its place
	s.release(t, "first:1").want(t, 200, "{}")
	wantGranted(t, me, "me:1")
	s.release(t, "me:1").want(t, 200, "{}")
	wantGranted(t, you, "you:7")
	s.release(t, "you:7").want(t, 200, "{}")
	s.stand(t, "me:2").want(t, 200, `"owner":"me:2"`) // what is free is had at once
}

// TestNobodyStandsUnheard: a grant that is told to nobody holds up all who wait.
func TestNobodyStandsUnheard(t *testing.T) {
	s := serve(t, config(t), nil)
	you := s.attend(t, "you")
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "first:1"}`).want(t, 200)
	for what, body := range map[string]string{
		"does not attend": `{"name": "a", "owner": "me:1", "stand": true}`,
		"did not ask":     `{"name": "a", "owner": "you:1"}`,
		"waits here":      `{"name": "a", "owner": "you:2", "stand": true, "wait": "1ms"}`,
		"is fair":         `{"name": "a", "owner": "you:3", "stand": true, "fair": true}`,
		"is a vote":       `{"name": "a", "owner": "you:4", "stand": true, "mode": "vote", "above": "1"}`,
	} {
		if a := s.post(t, locks+"Acquire", body); a.status != 409 || strings.Contains(a.body, "claim") {
			t.Errorf("who %s: %d %s", what, a.status, a.body)
		}
	}
	s.post(t, locks+"Acquire", `{"name": "r", "owner": "first:2", "mode": "write"}`).want(t, 200)
	s.post(t, locks+"Acquire", `{"name": "r", "owner": "you:5", "mode": "shared", "stand": true}`).want(t, 409)
	s.release(t, "first:1").want(t, 200)
	s.post(t, locks+"Ask", `{"name": "a"}`).want(t, 200, "{}") // nobody has it
	s.stand(t, "you:6").want(t, 200)
	s.post(t, locks+"Ask", `{"name": "a"}`).want(t, 200, `"told":1`)
	if got := you.message(t); !strings.Contains(got, `"asked"`) {
		t.Errorf("told %s", got)
	}
}

// TestWhoHasGoneIsPassedTheLock: its stream is over, or it has given its owner back.
func TestWhoHasGoneIsPassedTheLock(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, s *site, me *stream){
		"its stream is over": func(t *testing.T, s *site, me *stream) {
			me.close()
			eventually(t, func() bool { return !strings.Contains(s.stand(t, "me:2").body, "claim") })
		},
		"it gave up": func(t *testing.T, s *site, _ *stream) { s.release(t, "me:1").want(t, 409, `"lost"`) },
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, config(t), nil)
			me, you := s.attend(t, "me"), s.attend(t, "you")
			s.post(t, locks+"Acquire", `{"name": "a", "owner": "first:1"}`).want(t, 200)
			s.stand(t, "me:1").want(t, 409, `"claim":"5s"`)
			s.stand(t, "you:1").want(t, 409, `"claim":"5s"`)
			leave(t, s, me)
			s.release(t, "first:1").want(t, 200)
			wantGranted(t, you, "you:1")
		})
	}
}

// TestHoldersHoldBackForThoseInLine: who stands listens as well, and is not counted as waiting for a release.
func TestHoldersHoldBackForThoseInLine(t *testing.T) {
	s := serve(t, config(t), nil)
	me := s.attend(t, "me")
	for _, listener := range []string{"me listens", "somebody else"} {
		w := s.stream(t, locks+"Listen", `{"name": "a", "client": "`+listener+`"}`)
		defer w.close()
		w.message(t)
	}
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "first:1"}`).want(t, 200)
	s.release(t, "first:1").want(t, 200, `"waiting":2`)
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "first:2"}`).want(t, 200)
	s.stand(t, "me:1").want(t, 409, `"claim":"5s"`)
	s.release(t, "first:2").want(t, 200, `"waiting":1`)
	wantGranted(t, me, "me:1")
	s.post(t, locks+"Release", `{"grant": {"name": "a", "owner": "me:1"}, "client": "me listens"}`).
		want(t, 200, `"waiting":1`)
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "first:3"}`).want(t, 200)
	s.release(t, "first:3").want(t, 200, `"waiting":2`) // it does not stand any more
}

// TestWhatIsPassedOnIsNotSeen by who watches the server: it was refused, and has the lock all the same.
func TestWhatIsPassedOnIsNotSeen(t *testing.T) {
	c, seen := config(t), &lockRecorder{}
	c.LockObserver = seen
	s := serve(t, c, nil)
	me := s.attend(t, "me")
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "first:1"}`).want(t, 200)
	s.stand(t, "me:1").want(t, 409, `"claim":"5s"`)
	s.release(t, "first:1").want(t, 200)
	wantGranted(t, me, "me:1")
	s.release(t, "me:1").want(t, 200)
	want := []string{"asked a", "granted a", "asked a", "refused a", "granted a, passed on", "released a", "released a"}
	slices.Sort(seen.told) // the grant is told on a way of its own
	slices.Sort(want)
	if !slices.Equal(seen.told, want) {
		t.Errorf("told %q, want %q", seen.told, want)
	}
}

// passer is a store whose grants a test tells, and that refuses everybody a place when their caller has gone.
type passer struct {
	driver.Backend
	driver.Attender

	tell     func(driver.Grant)
	asked    chan struct{}
	releases atomic.Int32
}

func newPasser() *passer {
	memory := memlock.NewBackend(nil)
	return &passer{Backend: memory, Attender: memory.(driver.Attender), asked: make(chan struct{})}
}

// Stand implements [driver.Successor].
func (p *passer) Stand(ctx context.Context, _ driver.Request) (driver.Grant, error) {
	close(p.asked)
	<-ctx.Done()
	return driver.Grant{}, &driver.HeldError{TTL: time.Minute, Claim: time.Minute, Token: 1}
}

// Inherit implements [driver.Successor].
func (p *passer) Inherit(tell func(driver.Grant)) { p.tell = tell }

// Release implements [driver.Backend].
func (p *passer) Release(ctx context.Context, g driver.Grant) (int, error) {
	p.releases.Add(1)
	return p.Backend.Release(ctx, g)
}

// TestWhoHasHungUpStands: it asks no more, and nobody else knows its owner.
func TestWhoHasHungUpStands(t *testing.T) {
	store := newPasser()
	s := serve(t, setup{Services: server.Services{Locks: store}}, nil)
	s.attend(t, "me")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { <-store.asked; cancel() }()
	s.hang(ctx, locks+"Acquire", `{"name": "a", "owner": "me:1", "stand": true}`)
	eventually(t, func() bool { return store.releases.Load() == 1 })
}

// TestAGrantOfNobodyIsForNobody: all who attend ask then, for one of them may have been granted the lock.
func TestAGrantOfNobodyIsForNobody(t *testing.T) {
	store := newPasser()
	s := serve(t, setup{Services: server.Services{Locks: store}}, nil)
	me, you, again := s.attend(t, "me"), s.attend(t, "you"), s.attend(t, "me")
	store.tell(driver.Grant{Name: "a"})
	store.tell(driver.Grant{Name: "a", Owner: "nobody:1", Token: 1, Tokens: 1})
	store.tell(driver.Grant{Name: "a", Owner: "me:1"})
	for _, to := range []*stream{me, you, again} {
		if got := to.message(t); got != `{"kind":"ask","name":"a"}` {
			t.Errorf("told %s", got)
		}
	}
	for _, to := range []*stream{me, again} {
		if got := to.message(t); got != `{"kind":"granted","name":"a","owner":"me:1"}` {
			t.Errorf("told %s", got)
		}
	}
}

// eager is a store that lets everybody stand.
type eager struct {
	driver.Backend
	driver.Attender
}

// Stand implements [driver.Successor].
func (eager) Stand(context.Context, driver.Request) (driver.Grant, error) {
	return driver.Grant{}, &driver.HeldError{TTL: time.Minute, Claim: time.Minute, Token: 1}
}

// Inherit implements [driver.Successor].
func (eager) Inherit(func(driver.Grant)) {}

// TestTheStoreIsAskedToLetOneStandWhoIsDeaf: it cannot know.
func TestTheStoreIsAskedToLetOneStandWhoIsDeaf(t *testing.T) {
	memory := memlock.NewBackend(nil)
	s := serve(t, setup{Services: server.Services{Locks: eager{memory, memory.(driver.Attender)}}}, nil)
	you := s.attend(t, "you")
	defer you.close()
	s.stand(t, "me:1").want(t, 200)
	s.stand(t, "you:1").want(t, 409, `"claim":"60s"`)
}

// deaf is a store that passes locks on, but cannot tell clients apart.
type deaf struct {
	driver.Backend
	driver.Successor
}

func (deaf) Inherit(func(driver.Grant)) { panic("nobody is there to be told") }

// TestAStoreOfOneClientIsAskedToPassOn: it would tell the server, and nobody else.
func TestAStoreOfOneClientIsAskedToPassOn(t *testing.T) {
	memory := memlock.NewBackend(nil)
	s := serve(t, setup{Services: server.Services{Locks: deaf{memory, memory.(driver.Successor)}}}, nil)
	s.stand(t, "me:1").want(t, 200)
	if a := s.stand(t, "me:2"); a.status != 409 || strings.Contains(a.body, "claim") {
		t.Errorf("%d %s", a.status, a.body)
	}
}
