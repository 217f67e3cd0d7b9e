package server_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// shop is a server whose store a test looks into.
type shop struct {
	*site
	store driver.Backend
}

func openShop(t *testing.T) *shop {
	t.Helper()
	c, store := config(t), memlock.NewStore(nil)
	c.Locks = memlock.NewBackend(store)
	return &shop{serve(t, c, nil), memlock.NewBackend(store)}
}

// later asks for a lock in the background.
func (s *shop) later(t *testing.T, body string) <-chan answer {
	t.Helper()
	done := make(chan answer, 1)
	ctx := context.WithoutCancel(t.Context())
	go func() { done <- s.tryPost(ctx, locks+"Acquire", body) }()
	return done
}

// mayRead reports whether another reader could come now.
func (s *shop) mayRead(t *testing.T) bool {
	t.Helper()
	g, err := s.store.Acquire(t.Context(), driver.Request{
		Name: "a", Owner: "looks", Mode: driver.Shared, TTL: time.Second, Tokens: 1,
	})
	if err == nil {
		_, err = s.store.Release(t.Context(), g)
	}
	if err != nil && !errors.Is(err, driver.ErrHeld) {
		t.Fatal(err)
	}
	return err == nil
}

// TestAWriterThatHasWaitedKeepsReadersOff: it gave up, or its caller has gone. Nobody else knows that it has waited.
func TestAWriterThatHasWaitedKeepsReadersOff(t *testing.T) {
	for name, wait := range map[string]struct{ caller, server string }{
		"it gave up": {"1m", "0.3s"}, "it has gone": {"300ms", "30s"},
	} {
		t.Run(name, func(t *testing.T) {
			s := openShop(t)
			s.post(t, locks+"Acquire", `{"name": "a", "owner": "r", "mode": "shared"}`).want(t, 200)
			patience, err := time.ParseDuration(wait.caller)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			s.tryPost(ctx, locks+"Acquire", `{"name": "a", "owner": "w", "mode": "write", "wait": "`+wait.server+`"}`)
			start := time.Now()
			eventually(t, func() bool { return s.mayRead(t) })
			if waited := time.Since(start); waited > 4*time.Second {
				t.Errorf("a reader was kept off for %s, which is until the writer's claim was over", waited)
			}
		})
	}
}

// TestAnUpgradeWaitsBehindAWriter which waits for the reader that is to be upgraded.
func TestAnUpgradeWaitsBehindAWriter(t *testing.T) {
	s := openShop(t)
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "u", "mode": "shared", "upgradeable": true}`).want(t, 200)
	writer := s.later(t, `{"name": "a", "owner": "w", "mode": "write", "wait": "3s"}`)
	eventually(t, func() bool { return !s.mayRead(t) })
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "u2", "mode": "write", "over": "u", "wait": "1s"}`).want(t, 200)
	<-writer
}

// TestAnotherKindWaitsInLine: it would wait in vain.
func TestAnotherKindWaitsInLine(t *testing.T) {
	s := openShop(t)
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "r", "mode": "shared"}`).want(t, 200)
	writer := s.later(t, `{"name": "a", "owner": "w", "mode": "write", "wait": "3s"}`)
	eventually(t, func() bool { return !s.mayRead(t) })
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "m", "wait": "1s"}`).
		want(t, 400, "it is a read-write lock, not a mutex")
	<-writer
}

// TestAClaimLapsesWhileItsWriterWaits: it asks again in time, whoever else is there to wake it.
func TestAClaimLapsesWhileItsWriterWaits(t *testing.T) {
	s := openShop(t)
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "r", "mode": "shared"}`).want(t, 200)
	writer := s.later(t, `{"name": "a", "owner": "w", "mode": "write", "wait": "6s"}`)
	eventually(t, func() bool { return !s.mayRead(t) })
	for start := time.Now(); time.Since(start) < 5500*time.Millisecond; {
		if s.mayRead(t) {
			t.Fatalf("a reader that came later has it after %s", time.Since(start))
		}
	}
	<-writer
}
