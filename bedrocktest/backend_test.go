package bedrocktest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func request(owner string) driver.Request {
	return driver.Request{Name: "a", Owner: owner, TTL: time.Minute, Tokens: 1}
}

func TestFaultMissesItsCall(t *testing.T) {
	f := bedrocktest.NewBackend(memlock.NewBackend(nil))
	f.Fail(bedrocktest.Acquire,
		bedrocktest.Fault{Before: driver.ErrUnavailable}, bedrocktest.Fault{After: bedrocktest.ErrReplyLost})
	if _, err := f.Acquire(t.Context(), request("a:1")); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("the first call: %v", err)
	}
	if _, err := f.Acquire(t.Context(), request("a:2")); !errors.Is(err, bedrocktest.ErrReplyLost) {
		t.Errorf("the second call: %v", err)
	}
	if _, err := f.Acquire(t.Context(), request("a:3")); !errors.Is(err, driver.ErrHeld) {
		t.Errorf("the second call had no effect: %v", err)
	}
	if n := f.Calls(bedrocktest.Acquire); n != 3 {
		t.Errorf("%d calls counted", n)
	}
}

func TestFrozenCallIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := bedrocktest.NewBackend(memlock.NewBackend(nil))
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

// TestWatchNobodyGotListens: its reply was lost, or its caller had left before.
func TestWatchNobodyGotListens(t *testing.T) {
	for name, test := range map[string]struct {
		fault bedrocktest.Fault
		want  error
	}{
		"lost": {bedrocktest.Fault{After: bedrocktest.ErrReplyLost}, bedrocktest.ErrReplyLost},
		"late": {bedrocktest.Fault{Linger: time.Minute}, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := bedrocktest.NewBackend(memlock.NewBackend(nil))
				f.Fail(bedrocktest.Watch, test.fault)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, err := f.Watch(ctx, "a", driver.Mutex); !errors.Is(err, test.want) {
					t.Errorf("the watch: %v", err)
				}
				f.WaitLate()
				if _, err := f.Acquire(t.Context(), request("a:1")); err != nil {
					t.Fatal(err)
				}
				if info, err := f.Inspect(t.Context(), "a"); err != nil || info.Waiting != 0 {
					t.Errorf("%d wait, error %v", info.Waiting, err)
				}
			})
		})
	}
}

// TestLateRenewalTakesTheCallersMemory: who has left uses it for something else.
func TestLateRenewalTakesTheCallersMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := bedrocktest.NewBackend(memlock.NewBackend(nil))
		grant, err := f.Acquire(t.Context(), request("a:1"))
		if err != nil {
			t.Fatal(err)
		}
		f.Freeze()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
		defer cancel()
		grants := []driver.Grant{grant}
		f.Renew(ctx, grants)
		grants[0] = driver.Grant{}
		f.Thaw()
		f.WaitLate()
		info, err := f.Inspect(t.Context(), "a")
		if err != nil || len(info.Holders) != 1 || info.Holders[0].TTL != time.Minute {
			t.Errorf("after a late renewal: %+v, %v", info, err)
		}
	})
}
