package latch_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/latch"
)

// TestALostReplyCountsTwice: a call is recognised when it is made again, and has the answer of the first.
func TestALostReplyCountsTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 1)[0]
		l := p.latch(nil)
		lost := bedrocktest.Fault{After: bedrocktest.ErrReplyLost}
		late := bedrocktest.Fault{Linger: time.Minute}
		p.backend.Fail(bedrocktest.SetLatch, lost, late)
		set(t, l, 3)
		p.backend.Fail(bedrocktest.CountDown, lost, late, lost)
		countDown(t, l, 2)
		p.backend.LoseReply(bedrocktest.LatchCount)
		wantCount(t, l, 2)
		if n := p.backend.Calls(bedrocktest.CountDown); n != 4 {
			t.Errorf("%d calls", n)
		}
		p.backend.WaitLate()
	})
}

// TestAnOutageFailsACall: one that ends within the patience does not.
func TestAnOutageFailsACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 1)[0]
		l := p.latch(nil)
		p.backend.Down()
		time.AfterFunc(9*time.Second, p.backend.Up)
		set(t, l, 2)
		p.backend.Freeze()
		time.AfterFunc(9*time.Second, p.backend.Thaw)
		countDown(t, l, 1)
		p.backend.WaitLate()
		wantCount(t, l, 1)
	})
}

// TestACallIsGivenUpWithoutTheTruth: when its patience is over, it says whether it may have been carried out.
func TestACallIsGivenUpWithoutTheTruth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			fault   bedrocktest.Fault
			unknown bool
			tries   int
			after   time.Duration
		}{
			"unavailable":    {bedrocktest.Fault{Before: driver.ErrUnavailable}, false, 15, 10 * time.Second},
			"lost":           {bedrocktest.Fault{After: bedrocktest.ErrReplyLost}, true, 15, 10 * time.Second},
			"without answer": {bedrocktest.Fault{Delay: time.Hour}, true, 2, 10 * time.Second},
		} {
			p := processes(t, 1)[0]
			l := p.latch(nil)
			set(t, l, 1000)
			for range 100 {
				p.backend.FailAll(c.fault)
			}
			began := time.Now()
			_, err := l.CountDown(t.Context())
			took, tries := time.Since(began), p.backend.Calls(bedrocktest.CountDown)
			wantUnknown(t, err, c.unknown)
			if took < c.after || took > c.after+time.Second || tries < c.tries || tries > 3*c.tries {
				t.Errorf("%s: given up after %s, and %d tries: %v", name, took, tries, err)
			}
			told := errors.Is(err, driver.ErrUnavailable) || errors.Is(err, bedrocktest.ErrReplyLost)
			if errors.Is(err, context.DeadlineExceeded) || !told {
				t.Errorf("%s: %v", name, err)
			}
			p.backend.Up()
			p.backend.WaitLate()
			_, err = l.Count(t.Context())
			wantErr(t, err, nil)
		}
	})
}

// TestACallThatIsMadeOnceIsRepeated: -1 is for no patience.
func TestACallThatIsMadeOnceIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 1)[0]
		l := p.latch(&latch.Options{Patience: -1})
		p.backend.Fail(bedrocktest.SetLatch, bedrocktest.Fault{Before: driver.ErrUnavailable})
		_, err := l.Set(t.Context(), 3)
		wantErr(t, err, driver.ErrUnavailable)
		wantUnknown(t, err, false)
		p.backend.LoseReply(bedrocktest.SetLatch)
		_, err = l.Set(t.Context(), 3)
		wantErr(t, err, bedrocktest.ErrReplyLost)
		wantUnknown(t, err, true)
		p.backend.Fail(bedrocktest.LatchCount, bedrocktest.Fault{Linger: time.Hour})
		began := time.Now()
		_, err = l.Count(t.Context())
		wantErr(t, err, driver.ErrUnavailable)
		wantUnknown(t, err, false)
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("after %s: %v", took, err)
		}
		p.backend.WaitLate()
	})
}

// TestTheEndOfTheContextIsNotTold: with its cause, what the backend has said last, and whether something is done.
func TestTheEndOfTheContextIsNotTold(t *testing.T) {
	for name, c := range map[string]struct {
		fault   bedrocktest.Fault
		unknown bool
	}{
		"unavailable":    {bedrocktest.Fault{Before: driver.ErrUnavailable}, false},
		"lost":           {bedrocktest.Fault{After: bedrocktest.ErrReplyLost}, true},
		"without answer": {bedrocktest.Fault{Delay: time.Hour}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := processes(t, 1)[0]
				l := p.latch(nil)
				set(t, l, 100)
				p.backend.FailAll(c.fault)
				for method, call := range map[string]func(ctx context.Context) error{
					"set":        func(ctx context.Context) error { _, err := l.Set(ctx, 1); return err },
					"count down": func(ctx context.Context) error { _, err := l.CountDown(ctx); return err },
					"drop":       func(ctx context.Context) error { _, err := l.Drop(ctx); return err },
					"count":      func(ctx context.Context) error { _, err := l.Count(ctx); return err },
					"await":      l.Await,
				} {
					ctx, end := context.WithCancelCause(t.Context())
					stop := time.AfterFunc(time.Second, func() { end(errTold) })
					began := time.Now()
					err := call(ctx)
					stop.Stop()
					if took := time.Since(began); took != time.Second {
						t.Errorf("%s: after %s", method, took)
					}
					wantErr(t, err, context.Canceled)
					wantErr(t, err, errTold)
					wantUnknown(t, err, c.unknown && method != "count" && method != "await")
					silent := strings.Contains(err.Error(), "no answer in 1s")
					if silent != (name == "without answer") {
						t.Errorf("%s: %v", method, err)
					}
					if c.fault.Before != nil {
						wantErr(t, err, driver.ErrUnavailable)
					}
				}
				p.backend.Up()
				p.backend.WaitLate()
			})
		})
	}
}

// TestTheCauseIsCutOffByTime: what the backend has said last is told, also when a try after it had no time for its
// answer.
func TestTheCauseIsCutOffByTime(t *testing.T) {
	refused := fmt.Errorf("connection refused: %w", driver.ErrUnavailable)
	for name, limit := range map[string]time.Duration{"the context": time.Second, "the patience": time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := processes(t, 1)[0]
				silent := bedrocktest.Fault{Delay: time.Hour}
				p.backend.Fail(bedrocktest.LatchCount, bedrocktest.Fault{Before: refused}, silent, silent, silent)
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				_, err := p.latch(nil).Count(ctx)
				wantErr(t, err, refused)
				if p.backend.Calls(bedrocktest.LatchCount) < 2 || (limit == time.Second) != errors.Is(err, ctx.Err()) {
					t.Errorf("%d tries: %v", p.backend.Calls(bedrocktest.LatchCount), err)
				}
				p.backend.Up()
				p.backend.WaitLate()
			})
		})
	}
}

// TestAStoppedClientIsWaitedFor: a call that waits for its answer, or to be repeated, ends.
func TestAStoppedClientIsWaitedFor(t *testing.T) {
	for name, fault := range map[string]bedrocktest.Fault{
		"unavailable":    {Before: driver.ErrUnavailable},
		"without answer": {Delay: 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := processes(t, 1)[0]
				l := p.latch(nil)
				set(t, l, 2)
				p.backend.FailAll(fault)
				began := time.Now()
				time.AfterFunc(time.Second, func() { stop(t, p.locks) })
				_, err := l.CountDown(t.Context())
				wantErr(t, err, lock.ErrClosed)
				wantUnknown(t, err, fault.Before == nil)
				if took := time.Since(began); took != time.Second {
					t.Errorf("after %s", took)
				}
				p.backend.WaitLate()
			})
		})
	}
}

// TestARefusalAfterALostReplyIsCertain: what was asked before may have been carried out.
func TestARefusalAfterALostReplyIsCertain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 1)[0]
		l := p.latch(nil)
		set(t, l, 2)
		refused := bedrocktest.Fault{Before: driver.ErrRefused}
		p.backend.Fail(bedrocktest.CountDown, bedrocktest.Fault{After: bedrocktest.ErrReplyLost}, refused)
		_, err := l.CountDown(t.Context())
		wantErr(t, err, driver.ErrRefused)
		wantUnknown(t, err, true)
		p.backend.Fail(bedrocktest.CountDown, refused)
		_, err = l.CountDown(t.Context())
		wantErr(t, err, driver.ErrRefused)
		wantUnknown(t, err, false)
		p.backend.Fail(bedrocktest.CountDown, bedrocktest.Fault{After: bedrocktest.ErrReplyLost})
		_, err = l.CountDownBy(t.Context(), 2)
		wantErr(t, err, latch.ErrBelowZero)
		wantUnknown(t, err, false)
	})
}
