package client_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// TestLatchesLoseSomethingOnTheWay: their counts, and what a refusal says.
func TestLatchesLoseSomethingOnTheWay(t *testing.T) {
	b := remote(t, serving(t, memlock.NewBackend(nil)))
	if set, err := b.SetLatch(t.Context(), "l", "1", driver.MaxCount); !set || err != nil {
		t.Errorf("set %v, %v", set, err)
	}
	if set, err := b.SetLatch(t.Context(), "l", "2", 7); set || err != nil {
		t.Errorf("set again: %v, %v", set, err)
	}
	if left, err := b.CountDown(t.Context(), "l", "3", driver.MaxCount-2); left != 2 || err != nil {
		t.Errorf("%d are left, %v", left, err)
	}
	_, err := b.CountDown(t.Context(), "l", "4", 3)
	if below, ok := errors.AsType[*driver.CountError](err); !ok || *below != (driver.CountError{Left: 2, By: 3}) {
		t.Errorf("refused with %v", err)
	}
	if n, err := b.LatchCount(t.Context(), "l"); n != 2 || err != nil {
		t.Errorf("the count is %d, %v", n, err)
	}
	_, err = b.Acquire(t.Context(), driver.Request{Name: "l", Owner: "o", TTL: time.Second, Tokens: 1})
	if kind, ok := errors.AsType[*driver.KindError](err); !ok || kind.Found != driver.Latch {
		t.Errorf("a lock of that name: %v", err)
	}
	if dropped, err := b.DropLatch(t.Context(), "l"); !dropped || err != nil {
		t.Errorf("dropped %v, %v", dropped, err)
	}
	if dropped, err := b.DropLatch(t.Context(), "l"); dropped || err != nil {
		t.Errorf("dropped again: %v, %v", dropped, err)
	}
}

// TestALatchOpensUnheard by who listens for it.
func TestALatchOpensUnheard(t *testing.T) {
	b := remote(t, serving(t, memlock.NewBackend(nil)))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	w, err := b.Watch(ctx, "l", driver.Latch)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for what, change := range []func() error{
		func() error { _, err := b.SetLatch(ctx, "l", "1", 1); return err },
		func() error { _, err := b.CountDown(ctx, "l", "2", 1); return err },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-w.C():
		case <-ctx.Done():
			t.Fatalf("change %d is not told", what)
		}
	}
}

// TestACountIsTakenTwice: the first answer was lost on a dead connection, so the call is made again.
func TestACountIsTakenTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, r := serving(t, memlock.NewBackend(nil)), &roads{}
		var taken atomic.Int64
		r.handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if h.ServeHTTP(w, req); taken.Add(1) == 2 {
				r.strand()
			}
		})
		b := dial(t, "http://bedrock.invalid", &client.Options{HTTP: &http.Client{Transport: r}}).Backend().(bundling)
		defer func() { _ = b.Close() }()
		if _, err := b.SetLatch(t.Context(), "l", "1", 3); err != nil {
			t.Fatal(err)
		}
		if left, err := b.CountDown(t.Context(), "l", "2", 1); left != 2 || err != nil || taken.Load() != 3 {
			t.Errorf("%d are left, %v; %d calls", left, err, taken.Load())
		}
	})
}

// vanishing is a server that takes a call without an answer, and cannot be reached then.
type vanishing struct{ taken atomic.Bool }

// RoundTrip implements [http.RoundTripper].
func (v *vanishing) RoundTrip(req *http.Request) (*http.Response, error) {
	if v.taken.Swap(true) {
		return nil, &net.OpError{Op: "dial", Err: errors.New("nobody is there")}
	}
	<-req.Context().Done()
	return nil, req.Context().Err()
}

// TestACallTakenOnceIsToldAsNever: the first try may have taken effect, whatever became of the second.
func TestACallTakenOnceIsToldAsNever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, what := range []string{"set latch", "count down"} {
			c := dial(t, "http://bedrock.invalid", &client.Options{HTTP: &http.Client{Transport: &vanishing{}}})
			b := c.Backend().(bundling)
			err := calls(b)[what](t.Context())
			if err == nil || errors.Is(err, driver.ErrUnavailable) || errors.Is(err, driver.ErrRefused) {
				t.Errorf("%s: %v", what, err)
			}
			_ = b.Close()
		}
	})
}
