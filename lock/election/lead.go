package election

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/attempt"
	"github.com/bedrock-go/bedrock/lock/internal/outcome"
)

// Lead campaigns, and runs fn while it is the leader; when that was lost it campaigns again, after
// [Options.Pause], and runs fn anew. The context given to fn is the term's.
//
// If fn ends by itself, with an error or without, Lead resigns and ends with what fn has returned, joined with what
// resigning reports: a term that was lost though fn has not noticed is an error matching [lock.ErrLost]. When fn ends
// after its context has ended since the term was lost, that is not fn's own end, whatever it returns: much of what
// a context breaks off does not say so. Lead campaigns again, and an error that is not that of the context goes to
// [Options.Logger]. To stop for good whatever happens, end ctx.
//
// When ctx ends, Lead waits for fn, resigns, and ends with the context's error and its cause, joined with an error of
// fn's own; when the client is stopped, with [lock.ErrClosed]. A campaign that fails since the backend does is logged,
// and made again; Lead ends with its error if that would not help: if it matches [driver.ErrRefused].
//
// If fn panics, Lead resigns first.
func (e *Election) Lead(ctx context.Context, fn func(ctx context.Context, t *Term) error) error {
	if err := e.usable(ctx); err != nil {
		return err
	}
	if fn == nil {
		return &lock.InvalidError{Field: "function", Problem: "is nil"}
	}
	for {
		term, err := e.Campaign(ctx)
		pause := max(e.opts.Pause, pauseOfFailed)
		switch {
		case err == nil:
			lost, err := serveTerm(ctx, term, fn)
			if !lost {
				return err
			}
			e.logEnd(term, err)
			pause = e.opts.Pause
		case !e.mayCampaignAgain(ctx, err):
			return err
		default:
			e.opts.Logger.Warn("election: a campaign has failed, and is made again", "name", e.name, "err", err)
		}
		if ended := e.pauseBeforeCampaign(ctx, pause); ended != nil {
			return e.errorOf(errors.Join(ended, err))
		}
	}
}

// mayCampaignAgain reports whether one more campaign may be won after one that has failed.
func (e *Election) mayCampaignAgain(ctx context.Context, err error) bool {
	return ctx.Err() == nil && !attempt.IsStopped(e.locks) &&
		!errors.Is(err, driver.ErrRefused) && !errors.Is(err, lock.ErrInvalid)
}

// pauseBeforeCampaign lets others go first.
func (e *Election) pauseBeforeCampaign(ctx context.Context, pause time.Duration) error {
	if pause < 0 {
		pause = 0
	}
	return attempt.Pause(ctx, e.locks, pause/2+e.draw(pause+1), nil)
}

// serveTerm runs fn for a term, which is over then. It reports whether fn has ended because the term was lost; if not,
// the error is what Lead ends with.
func serveTerm(
	ctx context.Context, t *Term, fn func(ctx context.Context, t *Term) error,
) (lost bool, err error) {
	resign := sync.OnceValue(func() error {
		if err := t.Resign(ctx); !errors.Is(err, lock.ErrReleased) { // fn may have resigned
			return err
		}
		return nil
	})
	defer func() { _ = resign() }() // if fn panics
	own := t.Context()
	err = fn(own, t)
	cause := context.Cause(own) // as fn has seen it: a loss that comes from now on is told by Resign
	resigned := resign()
	switch {
	case cause == nil || ctx.Err() == nil && errors.Is(cause, lock.ErrReleased):
		return false, errors.Join(err, resigned)
	case ctx.Err() != nil:
		return false, errors.Join(outcome.ContextError(ctx), unlessEnd(own, err), resigned)
	case errors.Is(cause, lock.ErrLost):
		return true, err
	default: // the client was stopped
		return false, errors.Join(cause, unlessEnd(own, err))
	}
}

// unlessEnd returns err, or nil if it says nothing but that ctx has ended, or why.
func unlessEnd(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), err) || errors.Is(context.Cause(ctx), err) {
		return nil
	}
	return err
}

// logEnd tells what the function has returned when its term was lost, if that is more than the loss.
func (e *Election) logEnd(t *Term, err error) {
	own := t.Context()
	if err == nil || errors.Is(err, own.Err()) || errors.Is(err, lock.ErrLost) {
		return
	}
	e.opts.Logger.Warn("election: the term was lost, and then its function has failed; it is run again",
		"name", e.name, "token", t.Token(), "err", err)
}
