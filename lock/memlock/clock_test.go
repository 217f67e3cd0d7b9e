package memlock_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestLeaseOutlivesAJumpOfTheClock: the store's clock decides, and may jump. Who waits
// for the end of a lease sleeps by another clock, and has to be woken.
func TestLeaseOutlivesAJumpOfTheClock(t *testing.T) {
	var ahead atomic.Int64
	start := time.Now()
	store := memlock.NewStore(&memlock.StoreOptions{
		Now: func() time.Time { return start.Add(time.Duration(ahead.Load())) },
	})
	b := memlock.NewBackend(store)
	g := granted(t, b, 1)
	watch, err := b.(driver.Waiter).Watch(t.Context(), g.Name, driver.Mutex)
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	next := driver.Request{Name: g.Name, Owner: "p", TTL: time.Minute, Tokens: 1}
	for _, step := range []struct {
		at   time.Duration
		want error
	}{{time.Minute - 1, driver.ErrHeld}, {time.Minute, nil}} {
		ahead.Store(int64(step.at))
		if _, err := b.Acquire(t.Context(), next); !errors.Is(err, step.want) {
			t.Errorf("after %s: %v, want %v", step.at, err, step.want)
		}
	}
	if now := b.(driver.Timekeeper).Now(); now != time.Minute {
		t.Errorf("leases are judged at %s", now)
	}
	store.Wake()
	select {
	case <-watch.C():
	default:
		t.Error("who waits was not woken")
	}
}
