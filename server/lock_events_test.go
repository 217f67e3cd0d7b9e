package server_test

import (
	"context"
	"errors"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/server"
)

// lockRecorder remembers what becomes of locks.
type lockRecorder struct {
	mu   sync.Mutex
	told []string
}

// Observe implements [server.LockObserver].
func (r *lockRecorder) Observe(_ context.Context, e server.LockEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	what := string(e.Kind) + " " + e.Name
	if e.Passed {
		what += ", passed on"
	}
	r.told = append(r.told, what)
	if e.Kind == server.LockEventRefused && !errors.Is(e.Err, driver.ErrHeld) && !errors.Is(e.Err, context.Canceled) {
		r.told = append(r.told, "unexpected: "+e.Err.Error())
	}
}

// TestWhatBecomesOfLocksIsCountable: whoever watches a server that gives out locks must
// see that they are refused, lost and taken away.
func TestWhatBecomesOfLocksIsCountable(t *testing.T) {
	c, seen := config(t), &lockRecorder{}
	c.LockObserver = seen
	s := serve(t, c, nil)
	a := s.post(t, locks+"Acquire", `{"name": "a", "owner": "me-1"}`)
	a.want(t, 200)
	s.post(t, locks+"Acquire", `{"name": "a"}`).want(t, 409)
	s.post(t, locks+"Renew", `{"grants": [
		{"name": "a", "owner": "me-1", "ttl": "30s"}, {"name": "b", "owner": "me-2", "ttl": "1s"}
	]}`).want(t, 200)
	s.post(t, locks+"Release", `{"grant": {"name": "a", "owner": "me-1"}}`).want(t, 200)
	s.post(t, locks+"Release", `{"grant": {"name": "c", "owner": "me-3", "token": "7"}}`).want(t, 409)
	s.post(t, locks+"ForceRelease", `{"name": "a", "reason": "free already"}`).want(t, 200)
	s.post(t, locks+"Acquire", `{"name": "d"}`).want(t, 200)
	s.post(t, locks+"ForceRelease", `{"name": "d", "reason": "test"}`).want(t, 200)
	want := []string{
		"asked a", "granted a", "asked a", "refused a", "renewed a", "lost b", "released a", "lost c",
		"asked d", "granted d", "forced d",
	}
	if !slices.Equal(seen.told, want) {
		t.Errorf("told:\n%s\nwant:\n%s", strings.Join(seen.told, "\n"), strings.Join(want, "\n"))
	}
}

// TestALossIsToldOfWhatIsNone: who gives up releases what it may not have been granted, and a release whose answer did
// not arrive comes again; so may a renewal that was on its way.
func TestALossIsToldOfWhatIsNone(t *testing.T) {
	c, seen := config(t), &lockRecorder{}
	c.LockObserver = seen
	s := serve(t, c, nil)
	s.post(t, locks+"Release", `{"grant": {"name": "a", "owner": "me-2"}}`).want(t, 409, `"lost"`)
	s.post(t, locks+"Release", `{"grant": {"name": "a", "owner": "me-2", "token": "7"}}`).want(t, 409, `"lost"`)
	for _, taken := range []bool{true, false} {
		a := s.post(t, locks+"Acquire", `{"name": "a", "owner": "me-1"}`)
		token := regexp.MustCompile(`"token":"\d+"`).FindString(a.body)
		if token == "" {
			t.Fatal(a.body)
		}
		grant := `{"name": "a", "owner": "me-1", "ttl": "30s", ` + token + `}`
		if taken {
			s.post(t, locks+"ForceRelease", `{"name": "a", "reason": "test"}`).want(t, 200)
		} else {
			s.post(t, locks+"Release", `{"grant": `+grant+`}`).want(t, 200)
		}
		for range 2 {
			s.post(t, locks+"Renew", `{"grants": [`+grant+`]}`).want(t, 200, `"lost"`)
			s.post(t, locks+"Release", `{"grant": `+grant+`}`) // some stores know that it was released before
		}
	}
	want := []string{"asked a", "granted a", "forced a", "lost a", "asked a", "granted a", "released a"}
	if !slices.Equal(seen.told, want) {
		t.Errorf("told %q, want %q", seen.told, want)
	}
}

// tripping is an observer that panics at every event, or at those of one kind.
type tripping struct{ kind server.LockEventKind }

// Observe implements [server.LockObserver].
func (o tripping) Observe(_ context.Context, e server.LockEvent) {
	if o.kind == "" || e.Kind == o.kind {
		panic("out of paper")
	}
}

// wantTripped checks that the log is told of an observer that panicked at these events, each
// with where it was.
func wantTripped(t *testing.T, told string, events ...string) {
	t.Helper()
	for _, event := range events {
		want := `msg="server: the lock observer panicked" ` + event + ` panic="out of paper"`
		if !strings.Contains(told, want) {
			t.Errorf("want %s: %s", want, told)
		}
	}
	if n := strings.Count(told, "tripping.Observe("); n != len(events) {
		t.Errorf("%d stacks of %d panics: %s", n, len(events), told)
	}
}

// TestAnObserverThatPanicsChangesTheAnswers: what the store has granted is told as granted, or
// the lock is held for its whole life by nobody; what it has renewed is not told as a failure.
func TestAnObserverThatPanicsChangesTheAnswers(t *testing.T) {
	var told buffer
	c := config(t)
	c.LockObserver, c.Logger = tripping{}, slog.New(slog.NewTextHandler(&told, nil))
	s := serve(t, c, nil)
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "me-1"}`).want(t, 200, `"me-1"`)
	s.post(t, locks+"Acquire", `{"name": "a"}`).want(t, 409, `"kind":"held"`)
	s.post(t, locks+"Renew", `{"grants": [
		{"name": "a", "owner": "me-1", "ttl": "30s"}, {"name": "b", "owner": "me-2", "ttl": "1s"}
	]}`).want(t, 200, "lost")
	s.post(t, locks+"Release", `{"grant": {"name": "a", "owner": "me-1"}}`).want(t, 200)
	s.post(t, locks+"Acquire", `{"name": "a"}`).want(t, 200)
	s.post(t, locks+"ForceRelease", `{"name": "a", "reason": "test"}`).want(t, 200, `"held":true`)
	wantTripped(t, told.String(), "event=asked name=a", "event=granted name=a", "event=asked name=a",
		"event=refused name=a", "event=renewed name=a", "event=lost name=b", "event=released name=a",
		"event=asked name=a", "event=granted name=a", "event=forced name=a")
}

// TestAnObserverThatPanicsAfterACallEndsTheServer: a grant whose caller has gone is given back
// in the background, where nobody else recovers.
func TestAnObserverThatPanicsAfterACallEndsTheServer(t *testing.T) {
	var told buffer
	store := &forgetful{Backend: memlock.NewBackend(nil), granted: make(chan struct{})}
	s := serve(t, setup{
		Services: server.Services{Locks: store},
		Options: server.Options{
			LockObserver: tripping{server.LockEventReleased}, Logger: slog.New(slog.NewTextHandler(&told, nil)),
		},
	}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { <-store.granted; cancel() }()
	s.hang(ctx, locks+"Acquire", `{"name":"a","ttl":"86400s"}`)
	eventually(t, func() bool { return strings.Contains(told.String(), "event=") })
	wantTripped(t, told.String(), "event=released name=a")
}
