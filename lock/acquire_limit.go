package lock

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/internal/timelimit"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/outcome"
)

// How long one answer is waited for: a request that got none is given up and made again, for
// the connection that it went over may be what has died.
const (
	longestAnswer  = 5 * time.Second
	shortestAnswer = 10 * time.Millisecond // whatever the patience
)

// AnswerTime is how long one answer of the backend is waited for: half of [Options.Patience], so
// that there are two tries at least, and 5 s at most.
func (o *Options) AnswerTime() time.Duration {
	if o == nil || o.Patience == -1 {
		return longestAnswer
	}
	return min(max(cmp.Or(o.Patience, defaultPatience)/2, shortestAnswer), longestAnswer)
}

// acquireOnce makes one request, and gives it up when there is no answer in time: whatever
// the backend makes of it then, the doubt knows. A context that ends earlier needs no limit.
func (k *contest) acquireOnce(ctx context.Context) (driver.Grant, error) {
	c := k.q.client
	caller, limit := ctx, c.background // whatever else limits it, it ends with the client
	end, limited := ctx.Deadline()
	switch {
	case k.q.failures > 0:
		var cancel context.CancelFunc
		caller, cancel = context.WithTimeout(ctx, k.timeLeft())
		defer cancel()
	case k.try && time.Since(k.came) > aMoment: // for what lingered, and has part of the time for one answer
		var cancel context.CancelFunc
		least := time.Now().Add(c.opts.leastAnswer())
		caller, cancel = context.WithDeadline(ctx, later(k.came.Add(c.opts.AnswerTime()), least))
		defer cancel()
	case !limited || !end.Before(k.asked.Add(c.opts.AnswerTime())):
		limit = c.answers.Present(k.sent)
	}
	call := k.q.newCall()
	call.Begin(caller, limit)
	defer call.End()
	return k.acquireIn(ctx, call)
}

// acquireIn makes a request in the context of its own.
func (k *contest) acquireIn(ctx, call context.Context) (driver.Grant, error) {
	grant, err := k.makeRequest(call)
	if err == nil {
		return grant, nil
	}
	k.doubt = k.doubt.After(err)
	if call.Err() != nil && ctx.Err() == nil && outcome.IsContextError(err) {
		return grant, k.noAnswer(err)
	}
	return grant, outcome.NotTheCallersEnd(ctx, err)
}

// noAnswer says so in place of an error that would be taken for the end of the caller's
// context, and keeps what says how to go on.
func (k *contest) noAnswer(err error) error {
	silent := silenceAfter(k.lastFailure())
	silent.waited = time.Since(k.silentSince())
	if errors.Is(err, driver.ErrSpent) {
		return driver.Spent(silent)
	}
	return silent
}

// recordError records, for whoever comes to the front next too, what a request that failed has shown:
// since when the backend fails, and since when nothing has been answered, or that something was.
func (k *contest) recordError(err error) {
	silent := k.silentSince()
	switch {
	case errors.Is(err, driver.ErrRefused):
		k.q.endFailing()
	case isAnswer(err):
		k.countFailure(time.Time{})
	default:
		k.countFailure(silent)
	}
	k.q.recordWhyNot(err)
}

func (k *contest) countFailure(silent time.Time) {
	q := k.q
	if q.failures++; q.failures == 1 {
		q.failing = k.asked
	}
	q.silent = silent
	q.planRetry()
}

// planRetry puts the next request off, whoever makes it, after one that has failed.
func (q *queue) planRetry() { q.retry = time.Now().Add(q.client.jitter(backOff(q.failures))) }

// silentSince is since when nothing has been answered, to this contest or, while it waited in
// the queue, to who was at the front before.
func (k *contest) silentSince() time.Time {
	if k.q.silent.IsZero() {
		return k.asked
	}
	return later(k.came, k.q.silent)
}

// lastFailure is why the request before got no answer, whoever made it; nil if it got one.
func (k *contest) lastFailure() error {
	if k.q.failures == 0 {
		return nil
	}
	return k.whyNot()
}

// unansweredSince is since when this contest, or who was at the front before while it waited
// in the queue, has got no answer.
func (k *contest) unansweredSince() time.Time {
	if k.q.failures == 0 {
		return k.asked
	}
	return later(k.came, k.q.failing)
}

// timeLeft is how long the next request may take when those before got no answer: to the end
// of the patience, but a healthy backend is to have the time to answer. What would be too little
// for one more request is left to this one.
func (k *contest) timeLeft() time.Duration {
	opts := &k.q.client.opts
	limit := opts.AnswerTime()
	if opts.Patience == -1 {
		return limit
	}
	if left := max(k.patienceLeft(), opts.leastAnswer()); left < limit+opts.leastAnswer() {
		return left
	}
	return limit
}

// leastAnswer is how long one answer is waited for at least, however late the request is.
func (o *Options) leastAnswer() time.Duration { return min(hurriedCall, o.AnswerTime()) }

// patienceLeft is how much of the patience is left.
func (k *contest) patienceLeft() time.Duration {
	return k.q.client.opts.Patience - time.Since(k.unansweredSince())
}

// retryPause is the pause before the next request, which is made before patience is over, and in
// time for its answer if there is any. It counts from the last request, whoever has made that: those
// who come to the front with less time than a pause would never ask otherwise, one after the other.
func (k *contest) retryPause() time.Duration {
	pause, opts := time.Until(k.q.retry), &k.q.client.opts
	if opts.Patience == -1 {
		return max(pause, 0)
	}
	left := k.patienceLeft()
	if left > opts.leastAnswer() {
		left -= opts.leastAnswer()
	}
	return max(min(pause, left), 0)
}

// newCall returns the context of the next call. That of the first one is one piece of memory
// with the queue; who was called may go on with it, so it is not used again.
func (q *queue) newCall() *timelimit.Context {
	if q.called {
		return &timelimit.Context{}
	}
	q.called = true
	return &q.call
}
