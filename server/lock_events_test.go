package server_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
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
	r.told = append(r.told, string(e.Kind)+" "+e.Name)
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
	s.post(t, locks+"Release", `{"grant": {"name": "c", "owner": "me-3"}}`).want(t, 409)
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
