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

// TestALostReplyTakesBackWhatItIsAbout: a fault after the call leaves its effect.
func TestALostReplyTakesBackWhatItIsAbout(t *testing.T) {
	b := bedrocktest.NewBackend(memlock.NewBackend(nil))
	other := request("a:1")
	other.Name = "b"
	for _, m := range []bedrocktest.Method{
		bedrocktest.AcquireAll, bedrocktest.Annotate, bedrocktest.SetLatch, bedrocktest.CountDown,
	} {
		b.LoseReply(m)
	}
	_, err := b.AcquireAll(t.Context(), []driver.Request{request("a:1"), other})
	wantErr(t, err, bedrocktest.ErrReplyLost)
	wantErr(t, b.Annotate(t.Context(), driver.Grant{Name: "b", Owner: "a:1"}, "noted"), bedrocktest.ErrReplyLost)
	_, err = b.SetLatch(t.Context(), "l", "1", 3)
	wantErr(t, err, bedrocktest.ErrReplyLost)
	_, err = b.CountDown(t.Context(), "l", "2", 2)
	wantErr(t, err, bedrocktest.ErrReplyLost)
	for _, name := range []string{"a", "b"} {
		info, err := b.Inspect(t.Context(), name)
		if err != nil || len(info.Holders) != 1 || name == "b" && info.Holders[0].Meta != "noted" {
			t.Errorf("%s: %+v, %v", name, info.Holders, err)
		}
	}
	left, err := b.CountDown(t.Context(), "l", "2", 2)
	if err != nil || left != 1 {
		t.Errorf("%d are left, error %v", left, err)
	}
	if !b.Together([]string{"a", "b"}) {
		t.Error("the inner backend grants them in one step")
	}
}

// TestALateBundleTakesTheCallersMemory: who has left uses it for something else.
func TestALateBundleTakesTheCallersMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bedrocktest.NewBackend(memlock.NewBackend(nil))
		b.Freeze()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		reqs := []driver.Request{request("a:1")}
		if _, err := b.AcquireAll(ctx, reqs); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a frozen call: %v", err)
		}
		reqs[0] = driver.Request{}
		b.Thaw()
		b.WaitLate()
		_, err := b.Acquire(t.Context(), request("a:2"))
		wantErr(t, err, driver.ErrHeld)
	})
}
