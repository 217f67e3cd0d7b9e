package demo

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect serves a store and returns two backends on it.
func connect(t *testing.T) (a, b *remote) {
	t.Helper()
	s, err := startServer(t.Context(), newLedger())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	a, b = &remote{dial(s.socket)}, &remote{dial(s.socket)}
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	return a, b
}

func TestRemoteCarriesEveryAnswer(t *testing.T) {
	a, b := connect(t)
	ctx := t.Context()
	grant, err := a.Acquire(ctx, driver.Request{Name: "n", Owner: "a", TTL: time.Minute, Tokens: 3})
	if err != nil || grant.Token == 0 || grant.Tokens != 3 || grant.TTL != time.Minute {
		t.Fatalf("grant %+v, %v", grant, err)
	}
	_, err = b.Acquire(ctx, driver.Request{Name: "n", Owner: "b", TTL: time.Minute, Tokens: 1})
	if held, ok := errors.AsType[*driver.HeldError](err); !ok || held.Owner != "a" || held.TTL <= 0 {
		t.Errorf("refused with %v", err)
	}
	other := driver.Grant{Name: "n", Owner: "b", TTL: time.Minute}
	errs := a.Renew(ctx, []driver.Grant{grant, other})
	if errs[0] != nil || !errors.Is(errs[1], driver.ErrLost) {
		t.Errorf("renewed with %v", errs)
	}
	if _, err := b.Release(ctx, other); !errors.Is(err, driver.ErrLost) {
		t.Errorf("a stranger released with %v", err)
	}
	if _, err := a.Release(ctx, grant); err != nil {
		t.Error(err)
	}
	if _, err := a.Acquire(ctx,
		driver.Request{Name: "n", Mode: driver.Exclusive + 1}); !errors.Is(err, driver.ErrRefused) {
		t.Errorf("an unknown mode: %v", err)
	}
}

func TestRemoteWakesWaiters(t *testing.T) {
	a, b := connect(t)
	client := func(r *remote) *lock.Client {
		c, err := lock.New(r, &lock.Options{TTL: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Stop(context.WithoutCancel(t.Context())) })
		return c
	}
	lease, err := client(a).Mutex("n", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 1)
	waiter := client(b)
	go func() {
		next, err := waiter.Mutex("n", nil).Lock(t.Context())
		if err == nil {
			err = next.Unlock(t.Context())
		}
		got <- err
	}()
	if err := lease.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil { // the lease would live for an hour
		t.Error(err)
	}
}
