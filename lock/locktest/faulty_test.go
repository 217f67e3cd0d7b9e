package locktest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/locktest"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func request(owner string) driver.Request {
	return driver.Request{Name: "a", Owner: owner, TTL: time.Minute, Tokens: 1}
}

func TestFaultMissesItsCall(t *testing.T) {
	f := locktest.NewFaulty(memlock.NewBackend(nil))
	f.Fail(locktest.Acquire, locktest.Fault{Before: driver.ErrUnavailable}, locktest.Fault{After: locktest.ErrReplyLost})
	if _, err := f.Acquire(t.Context(), request("a:1")); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("the first call: %v", err)
	}
	if _, err := f.Acquire(t.Context(), request("a:2")); !errors.Is(err, locktest.ErrReplyLost) {
		t.Errorf("the second call: %v", err)
	}
	if _, err := f.Acquire(t.Context(), request("a:3")); !errors.Is(err, driver.ErrHeld) {
		t.Errorf("the second call had no effect: %v", err)
	}
	if n := f.Calls(locktest.Acquire); n != 3 {
		t.Errorf("%d calls counted", n)
	}
}

func TestFrozenCallIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := locktest.NewFaulty(memlock.NewBackend(nil))
		f.Freeze()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := f.Acquire(ctx, request("a:1")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a frozen call: %v", err)
		}
		if d := time.Since(start); d != time.Second {
			t.Errorf("it returned after %s", d)
		}
		f.Thaw()
		synctest.Wait()
		if _, err := f.Acquire(t.Context(), request("a:2")); !errors.Is(err, driver.ErrHeld) {
			t.Errorf("the request did not arrive after the thaw: %v", err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
}
