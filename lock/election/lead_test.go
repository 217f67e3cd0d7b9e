package election_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/election"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

var (
	errOwn  = errors.New("own error")
	errTold = errors.New("told to end")
)

// TestALossIsTakenForTheFunctionsEnd: whatever the function returns when its term was lost, it is run again, in a term
// with a higher token; what is not the context's end is logged.
func TestALossIsTakenForTheFunctionsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		returned func(ctx context.Context) error
		logged   bool
	}{
		"nothing":           {func(context.Context) error { return nil }, false},
		"the context's end": {context.Context.Err, false},
		"the cause":         {context.Cause, false},
		"another error":     {func(context.Context) error { return errOwn }, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := processes(t, 1)[0]
				var log bytes.Buffer
				e := p.election(&election.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
				var tokens []uint64
				err := e.Lead(t.Context(), func(ctx context.Context, term *election.Term) error {
					if tokens = append(tokens, term.Token()); len(tokens) == 3 {
						return nil
					}
					if _, err := p.locks.ForceRelease(t.Context(), "job"); err != nil {
						t.Error(err)
					}
					<-ctx.Done()
					wantCause(t, ctx, lock.ErrLost)
					return c.returned(ctx)
				})
				if err != nil || len(tokens) != 3 || tokens[0] >= tokens[1] || tokens[1] >= tokens[2] {
					t.Errorf("led with tokens %d, and ended with %v", tokens, err)
				}
				if logged := strings.Contains(log.String(), errOwn.Error()); logged != c.logged {
					t.Errorf("logged is %q", log.String())
				}
			})
		})
	}
}

// TestAFunctionThatHasEndedIsRunAgain: its end is that of Lead, which has resigned.
func TestAFunctionThatHasEndedIsRunAgain(t *testing.T) {
	for _, want := range []error{nil, errOwn, context.Canceled} {
		synctest.Test(t, func(t *testing.T) {
			p := processes(t, 2)
			ran := 0
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			err := p[0].election(nil).Lead(ctx, func(context.Context, *election.Term) error {
				if ran++; ran > 1 {
					cancel()
				}
				pass(time.Second)
				return want
			})
			if !errors.Is(err, want) || ran != 1 {
				t.Errorf("ran %d times: %v", ran, err)
			}
			began := time.Now()
			resign(t, campaign(t, p[1].election(nil)))
			if took := time.Since(began); took > time.Millisecond {
				t.Errorf("another one leads after %s", took)
			}
		})
	}
}

// TestAFunctionThatResignsIsRunAgain: that is an end of its own, too.
func TestAFunctionThatResignsIsRunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := processes(t, 1)[0].election(nil).Lead(t.Context(), func(ctx context.Context, term *election.Term) error {
			resign(t, term)
			return errors.Join(errOwn, ctx.Err())
		})
		wantErr(t, err, errOwn)
	})
}

// TestALossThatTheFunctionHasNotNoticedIsNotTold: its work may have been done by two.
func TestALossThatTheFunctionHasNotNoticedIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 2)
		p[0].backend.Fail(bedrocktest.Release, bedrocktest.Fault{Before: driver.ErrLost})
		err := p[0].election(nil).Lead(t.Context(), func(context.Context, *election.Term) error {
			pass(time.Second)
			return errOwn
		})
		wantErr(t, err, lock.ErrLost)
		wantErr(t, err, errOwn)
		if _, err := p[1].locks.ForceRelease(t.Context(), "job"); err != nil {
			t.Error(err)
		}
	})
}

// TestAPanicKeepsLeadership: whoever recovers from it has a process that leads for ever.
func TestAPanicKeepsLeadership(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := processes(t, 1)[0].election(nil)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is gone")
				}
			}()
			_ = e.Lead(t.Context(), func(context.Context, *election.Term) error {
				pass(time.Second)
				panic("on purpose")
			})
		}()
		_, err := e.Leader(t.Context())
		wantErr(t, err, election.ErrNoLeader)
	})
}

// TestTheEndOfTheContextIsNotTheEndOfLead: the function is waited for, and what it says of its own is not lost.
func TestTheEndOfTheContextIsNotTheEndOfLead(t *testing.T) {
	for name, returned := range map[string]func(ctx context.Context) error{
		"nothing":           func(context.Context) error { return nil },
		"the context's end": context.Context.Err,
		"another error":     func(context.Context) error { return errOwn },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := processes(t, 1)[0].election(nil)
				ctx, end := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { end(errTold) })
				began := time.Now()
				err := e.Lead(ctx, func(ctx context.Context, _ *election.Term) error {
					<-ctx.Done()
					pass(time.Second)
					return returned(ctx)
				})
				wantErr(t, err, context.Canceled)
				wantErr(t, err, errTold)
				if name == "another error" {
					wantErr(t, err, errOwn)
				}
				if took := time.Since(began); took != 2*time.Second {
					t.Errorf("ended after %s", took)
				}
				_, err = e.Leader(t.Context())
				wantErr(t, err, election.ErrNoLeader)
			})
		})
	}
}

// TestLeadWaitsOnWhenItsContextHasEnded: whether it campaigns, or lets others go first.
func TestLeadWaitsOnWhenItsContextHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 2)
		leader := campaign(t, p[0].election(nil))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		wantErr(t, p[1].election(nil).Lead(ctx, nothing), context.DeadlineExceeded)
		resign(t, leader)

		ctx, cancel = context.WithTimeoutCause(t.Context(), time.Minute, errTold)
		defer cancel()
		began := time.Now()
		err := p[0].election(&election.Options{Pause: time.Hour}).Lead(ctx,
			func(ctx context.Context, _ *election.Term) error {
				if _, err := p[1].locks.ForceRelease(t.Context(), "job"); err != nil {
					t.Error(err)
				}
				<-ctx.Done()
				return nil
			})
		wantErr(t, err, context.DeadlineExceeded)
		wantErr(t, err, errTold)
		if took := time.Since(began); took != time.Minute {
			t.Errorf("ended after %s", took)
		}
	})
}

func nothing(context.Context, *election.Term) error { return nil }

// TestLeadGoesOnWithAStoppedClient: in whatever it is at.
func TestLeadGoesOnWithAStoppedClient(t *testing.T) {
	for _, leads := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p := processes(t, 2)
			if !leads {
				defer resign(t, campaign(t, p[1].election(nil)))
			}
			time.AfterFunc(time.Second, func() { stop(t, p[0].locks) })
			err := p[0].election(nil).Lead(t.Context(), func(ctx context.Context, _ *election.Term) error {
				<-ctx.Done()
				return errOwn
			})
			wantErr(t, err, lock.ErrClosed)
			if leads {
				wantErr(t, err, errOwn)
			}
		})
	}
}

// TestAnOutageEndsLead: it goes on when the backend does, however long that was away.
func TestAnOutageEndsLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 1)[0]
		var log bytes.Buffer
		e := p.election(&election.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		terms := 0
		err := e.Lead(t.Context(), func(ctx context.Context, _ *election.Term) error {
			if terms++; terms == 2 {
				return nil
			}
			pass(time.Minute)
			p.backend.Down()
			time.AfterFunc(time.Hour, p.backend.Up)
			<-ctx.Done()
			wantCause(t, ctx, lock.ErrLost)
			return ctx.Err()
		})
		if err != nil || terms != 2 {
			t.Errorf("%d terms, and ended with %v", terms, err)
		}
		if n := strings.Count(log.String(), "a campaign has failed"); n < 60 || n > 360 {
			t.Errorf("%d campaigns that have failed were logged", n)
		}
	})
}

// TestARefusedCampaignIsRepeated: it would be refused for ever, and nobody be told.
func TestARefusedCampaignIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 1)[0]
		p.backend.Fail(bedrocktest.Acquire, bedrocktest.Fault{Before: driver.ErrRefused})
		wantErr(t, p.election(nil).Lead(t.Context(), nothing), driver.ErrRefused)
	})
}

// TestALongestTermIsNoTerm: who has led for that long lets others lead.
func TestALongestTermIsNoTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := processes(t, 2)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		led := make([]int, 2)
		ends := make(chan error, 2)
		for i := range p {
			e := p[i].election(&election.Options{MaxHold: time.Minute})
			go func() {
				ends <- e.Lead(ctx, func(ctx context.Context, _ *election.Term) error {
					led[i]++
					<-ctx.Done()
					return ctx.Err()
				})
			}()
		}
		for range p {
			wantErr(t, <-ends, context.DeadlineExceeded)
		}
		if led[0] < 20 || led[1] < 20 {
			t.Errorf("%d terms", led)
		}
	})
}

// TestFailedCampaignsFollowAtOnce: with no patience, and no pause, a backend that is away would not be left alone.
func TestFailedCampaignsFollowAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := bedrocktest.NewBackend(memlock.NewBackend(nil))
		locks := open(t, backend, &lock.Options{Patience: -1})
		backend.Down()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		err := election.New(locks, "job", &election.Options{
			Pause: -1, Logger: slog.New(slog.DiscardHandler),
		}).Lead(ctx, nothing)
		wantErr(t, err, context.DeadlineExceeded)
		wantErr(t, err, driver.ErrUnavailable)
		if n := backend.Calls(bedrocktest.Acquire); n < 60 || n > 200 {
			t.Errorf("%d requests in 10 s", n)
		}
	})
}
