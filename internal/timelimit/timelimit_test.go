package timelimit_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/internal/timelimit"
)

// key finds a value in the caller's context.
type key struct{}

// begin makes the context of a call.
func begin(caller context.Context, s *timelimit.Shared) *timelimit.Context {
	c := &timelimit.Context{}
	c.Begin(caller, s.Present(0))
	return c
}

// TestCallsHaveTimersOfTheirOwn: those that begin at about the same time have one limit, and
// those that begin later another.
func TestCallsHaveTimersOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := timelimit.NewShared(t.Context(), 8*time.Second)
		start := time.Now()
		present := func() context.Context { return s.Present(time.Since(start)) }
		first := present()
		time.Sleep(999 * time.Millisecond)
		if present() != first {
			t.Error("another limit after less than a second")
		}
		time.Sleep(2 * time.Millisecond)
		second := present()
		if second == first {
			t.Error("the same limit after more than a second")
		}
		time.Sleep(6999*time.Millisecond - time.Nanosecond)
		if first.Err() != nil {
			t.Error("ended too soon")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if !errors.Is(first.Err(), context.DeadlineExceeded) || second.Err() != nil {
			t.Errorf("after its time: %v, and %v", first.Err(), second.Err())
		}
	})
}

// TestCallsAfterAPauseGetALimitThatIsOver: when the process has been stopped, timers are late.
func TestCallsAfterAPauseGetALimitThatIsOver(t *testing.T) {
	s := timelimit.NewShared(t.Context(), 8*time.Hour)
	before := s.Present(0)
	after := s.Present(8 * time.Hour) // and no timer has fired
	if after == before {
		t.Error("the limit of calls that began long before")
	}
	if s.Present(9*time.Hour) != after {
		t.Error("another limit for calls that begin soon after")
	}
}

// TestALimitThatWasReplacedTakesTheNextAway: its timer is late, and fires all the same.
func TestALimitThatWasReplacedTakesTheNextAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := timelimit.NewShared(t.Context(), 8*time.Second)
		s.Present(0)
		time.Sleep(500 * time.Millisecond)
		after := s.Present(time.Minute)
		time.Sleep(700 * time.Millisecond)
		if s.Present(time.Minute) != after {
			t.Error("another limit after less than a second")
		}
	})
}

func TestLimitsOutliveTheirOwner(t *testing.T) {
	life, end := context.WithCancel(t.Context())
	s := timelimit.NewShared(life, time.Hour)
	c := begin(t.Context(), s)
	end()
	<-c.Done()
	if !errors.Is(c.Err(), context.Canceled) {
		t.Errorf("ended with %v", c.Err())
	}
}

// TestOneOfTheEndsIsMissed: a call ends with either, however its end is waited for, and
// whatever was made of its context.
func TestOneOfTheEndsIsMissed(t *testing.T) {
	waits := map[string]func(ctx context.Context){
		"Done": func(ctx context.Context) { <-ctx.Done() },
		"Ends": func(ctx context.Context) {
			caller, limit := timelimit.Ends(ctx)
			select {
			case <-caller:
			case <-limit:
			}
		},
		"a child": func(ctx context.Context) {
			child, cancel := context.WithCancel(ctx)
			defer cancel()
			<-child.Done()
		},
	}
	for name, wait := range waits {
		for _, after := range []time.Duration{time.Second, time.Minute} {
			t.Run(name+" "+after.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					caller, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "traced"))
					defer cancel()
					time.AfterFunc(after, cancel)
					c := begin(caller, timelimit.NewShared(t.Context(), 10*time.Second))
					start := time.Now()
					wait(c)
					took, want := time.Since(start), context.Canceled
					if after > 10*time.Second {
						want = context.DeadlineExceeded
					}
					if took != min(after, 10*time.Second) || !errors.Is(c.Err(), want) {
						t.Errorf("ended after %s with %v", took, c.Err())
					}
					if c.Value(key{}) != "traced" {
						t.Error("the caller's values are hidden")
					}
					c.End()
				})
			})
		}
	}
}

// TestTheLimitSticks: what has a limit of its own is given its caller's context.
func TestTheLimitSticks(t *testing.T) {
	c := begin(t.Context(), timelimit.NewShared(t.Context(), time.Hour))
	if timelimit.Caller(c) != t.Context() || timelimit.Caller(t.Context()) != t.Context() {
		t.Error("not the caller's")
	}
	if _, limit := timelimit.Ends(t.Context()); limit != nil {
		t.Error("a context without a limit has one")
	}
}

// TestACallThatIsOverIsKept: whoever has waited for its end hangs on its caller's context for
// as long as that lasts.
func TestACallThatIsOverIsKept(t *testing.T) {
	s := timelimit.NewShared(t.Context(), time.Hour)
	c := begin(t.Context(), s)
	done := c.Done()
	if c.Err() != nil {
		t.Errorf("ended with %v before its end", c.Err())
	}
	c.End()
	<-done
	if !errors.Is(c.Err(), context.Canceled) {
		t.Errorf("ended with %v", c.Err())
	}
}

// TestCallersWithoutAnEnd: their calls end with the limit alone, and cost nothing.
func TestCallersWithoutAnEnd(t *testing.T) {
	s := timelimit.NewShared(t.Context(), time.Hour)
	c := begin(context.Background(), s)
	if c.Done() != s.Present(0).Done() {
		t.Error("an end was made for them")
	}
	var calls [1000]timelimit.Context
	next := 0
	if n := testing.AllocsPerRun(900, func() {
		call := &calls[next]
		next++
		call.Begin(t.Context(), s.Present(0))
		timelimit.Ends(call)
		if call.Err() != nil {
			t.Error("ended")
		}
		call.End()
	}); n > 0 {
		t.Errorf("%v allocations for a call that is answered", n)
	}
}

// TestDeadlineIsTheEarlierOne, and the context itself tells its caller's alone.
func TestDeadlineIsTheEarlierOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := timelimit.NewShared(t.Context(), 8*time.Second)
		for caller, want := range map[time.Duration]time.Duration{
			0: 8 * time.Second, time.Second: time.Second, 9 * time.Second: 8 * time.Second,
		} {
			ctx := t.Context()
			if caller > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, caller)
				defer cancel()
			}
			c := begin(ctx, s)
			if end, ok := timelimit.Deadline(c); !ok || time.Until(end) != want {
				t.Errorf("a caller with %s has %s", caller, time.Until(end))
			}
			if _, ok := c.Deadline(); ok != (caller > 0) {
				t.Errorf("a caller with %s: the context tells the limit", caller)
			}
			if _, ok := timelimit.Deadline(ctx); ok != (caller > 0) {
				t.Errorf("a context without a limit has one")
			}
		}
	})
}
