package sleep_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
)

// TestSleepOutlastsAContext: whoever waits goes on when the time has passed, and not
// when a context ends before, or at the same moment.
func TestSleepOutlastsAContext(t *testing.T) {
	for _, c := range []struct {
		name       string
		own, other time.Duration // of the contexts
		goesOn     bool
		after      time.Duration
	}{
		{"time passes", 2 * time.Second, 2 * time.Second, true, time.Second},
		{"the context ends", time.Millisecond, 2 * time.Second, false, time.Millisecond},
		{"the other context ends", 2 * time.Second, time.Millisecond, false, time.Millisecond},
		{"a context has ended", 0, 2 * time.Second, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				own, cancel := context.WithTimeout(t.Context(), c.own)
				defer cancel()
				other, cancelOther := context.WithTimeout(t.Context(), c.other)
				defer cancelOther()
				began := time.Now()
				goesOn := sleep.ForBoth(own, other, time.Second)
				if took := time.Since(began); goesOn != c.goesOn || took != c.after {
					t.Errorf("it goes on: %t, after %s; want %t after %s", goesOn, took, c.goesOn, c.after)
				}
			})
		})
	}
}

func TestSleepOutlastsItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if !sleep.For(ctx, 0) {
		t.Error("it does not go on")
	}
	cancel()
	if sleep.For(ctx, 0) || sleep.For(ctx, time.Hour) {
		t.Error("it goes on when its context has ended")
	}
}
