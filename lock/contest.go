package lock

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/internal/settle"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// How a contender that was refused waits.
const (
	firstPoll   = time.Millisecond       // without a watch: the first pause
	longestPoll = 100 * time.Millisecond // and the longest
	blindPause  = 5 * time.Second        // with a watch, when the holder's time left is not known
	longestWait = 30 * time.Second       // with a watch, at most: it may listen where nobody tells of releases any more
	aMoment     = time.Second            // how long a request may take and not count as unanswered
)

// contest is one contender's try for the backend's lock.
type contest struct {
	q     *queue
	mutex *Mutex
	try   bool
	req   driver.Request

	refusals int
	inside   bool          // somebody else was in when it asked last
	others   bool          // somebody else has had the lock
	yielded  bool          // it held back for others
	again    bool          // and the first refusal after that is yet to come
	refusal  error         // what the last answer was, if that was a refusal
	sent     time.Duration // when the last request was made
	came     time.Time     // when its wait began; zero if it did not wait for its turn
	failure  error         // why the last request got no answer
	doubt    *settle.Doubt // of requests under the present owner
	deaf     error         // why the backend was given up
}

// contend asks the backend until the lock is granted, ctx ends, or the backend
// has not answered for too long. Only the front of the queue contends.
func (q *queue) contend(ctx, parent context.Context, m *Mutex, came time.Time, try bool) (*Lease, error) {
	q.client.observe(parent, Event{Kind: EventContending, Name: m.name})
	k := contest{q: q, mutex: m, came: came, try: try, req: driver.Request{
		Name: m.name, Owner: q.client.newOwner(), Mode: driver.Exclusive, TTL: m.opts.TTL, Meta: m.meta,
	}}
	lease, err := k.run(ctx, parent)
	if err != nil {
		k.giveUp()
	}
	return lease, err
}

func (k *contest) run(ctx, parent context.Context) (*Lease, error) {
	if k.q.failures > 0 { // whoever was at the front has asked just now
		if err := k.pause(ctx, k.q.client.jitter(backOff(k.q.failures)), nil); err != nil {
			return nil, err
		}
	}
	for {
		if err := k.yield(ctx); err != nil {
			return nil, err
		}
		lease, err := k.ask(ctx, parent)
		if err == nil {
			return lease, nil
		}
		if err := k.judge(ctx, err); err != nil {
			return nil, err
		}
		if errors.Is(err, driver.ErrSpent) {
			k.changeOwner()
		}
		if err := k.wait(ctx, err); err != nil {
			return nil, err
		}
	}
}

// changeOwner gives the owner up, under which nobody may ask any more, and goes on
// under another.
func (k *contest) changeOwner() {
	k.settleOwner()
	k.req.Owner, k.doubt = k.q.client.newOwner(), nil
}

// settleOwner cleans up after requests that may have been granted.
func (k *contest) settleOwner() {
	if k.doubt != nil {
		g := driver.Grant{Name: k.req.Name, Owner: k.req.Owner, Mode: k.req.Mode, TTL: k.req.TTL}
		k.q.client.settle(g, k.doubt)
	}
}

// ask makes one request.
func (k *contest) ask(ctx, parent context.Context) (*Lease, error) {
	c := k.q.client
	k.forgetWakeUps()
	k.req.Tokens = k.q.tokensWanted(k.mutex)
	k.sent = c.now()
	grant, err := c.backend.Acquire(ctx, k.req)
	if err != nil {
		k.doubt = k.doubt.After(err)
		return nil, err
	}
	k.granted()
	lease, err := k.q.take(ctx, parent, k.mutex, grant, k.sent, k.doubt)
	if err != nil {
		// The grant is being given back under its owner: go on under another. One that
		// came too late to be used counts as no answer.
		k.req.Owner, k.doubt = c.newOwner(), nil
		return nil, err
	}
	k.q.failures, k.q.failing = 0, time.Time{}
	return lease, nil
}

// forgetWakeUps drops signals older than the request about to be made: it will
// see what they tell.
func (k *contest) forgetWakeUps() {
	if k.q.watch == nil {
		return
	}
	select {
	case <-k.q.watch.C():
	default:
	}
}

// judge returns the error that ends the contest, or nil to go on.
func (k *contest) judge(ctx context.Context, err error) error {
	if isClosed(k.q.client.closed) {
		return opError("lock", k.req.Name, ErrClosed)
	}
	if errors.Is(err, driver.ErrHeld) {
		refusal := k.held(err)
		k.q.failures, k.q.failing, k.failure, k.refusal = 0, time.Time{}, nil, refusal
		k.inside = true
		if s := k.q.share; s != nil {
			s.refused(refusal.Owner, k.q.client.now())
		}
		k.q.tellWhy(k.refusal)
		if k.try {
			return k.refusal
		}
		return nil
	}
	if errors.Is(err, errEnded) {
		return err
	}
	if ctx.Err() != nil {
		return k.ended(ctx, err)
	}
	if k.try || errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrUnsupported) {
		return k.failed(err)
	}
	k.refusal, k.failure = nil, err
	k.q.tellWhy(err)
	if k.outOfPatience() {
		k.deaf = err
		return k.failed(err)
	}
	return nil
}

// outOfPatience counts a request that got no answer.
func (k *contest) outOfPatience() bool {
	q := k.q
	if q.failures++; q.failures == 1 {
		q.failing = time.Now()
	}
	return q.outOfPatience(k.came)
}

// ended tells the end of a wait that has broken off a request. If the longest wait
// has passed, the lock is held, for it was so a moment ago; if the backend was silent
// for longer than that, nobody can say, but what it had said before.
func (k *contest) ended(ctx context.Context, err error) error {
	switch {
	case !errors.Is(context.Cause(ctx), errWaited):
		return k.endedAfter(ctx, err)
	case k.refusal != nil && k.q.client.now()-k.sent < aMoment:
		return k.refusal
	case errors.Is(err, ctx.Err()):
		return k.failed(cmp.Or(k.failure, err))
	default:
		return k.failed(err)
	}
}

// endedAfter tells the end of the context, and why the lock was not had before: a
// refusal, or the last failure, which is not what the context's own end has broken off.
func (k *contest) endedAfter(ctx context.Context, err error) error {
	if errors.Is(err, ctx.Err()) {
		err = cmp.Or(k.failure, k.refusal)
	}
	return endedAfter(err)
}

func (k *contest) failed(err error) error {
	if k.doubt != nil {
		err = &unknownError{err}
	}
	return opError("acquire", k.req.Name, err)
}

// held translates the backend's refusal.
func (k *contest) held(err error) *HeldError {
	e := &HeldError{Name: k.req.Name}
	if refusal, ok := errors.AsType[*driver.HeldError](err); ok {
		e.Owner = refusal.Owner
		if refusal.TTL > 0 {
			e.Until = time.Now().Add(refusal.TTL)
		}
	}
	return e
}

// wait passes the time until the next request is worth making.
func (k *contest) wait(ctx context.Context, err error) error {
	if !errors.Is(err, driver.ErrHeld) {
		stopped := k.pause(ctx, k.q.client.jitter(backOff(k.q.failures)), nil)
		if errors.Is(stopped, errEnded) {
			return k.ended(ctx, err)
		}
		return stopped
	}
	if k.q.listens() || k.askAgain() {
		return nil // a release may have come before we listened: ask again
	}
	k.refusals++
	var left time.Duration
	if refusal, ok := errors.AsType[*driver.HeldError](err); ok {
		left = refusal.TTL
	}
	if k.q.watch == nil {
		err := k.pause(ctx, k.q.client.jitter(k.q.deafPause(k.refusals, left)), k.q.hearsSoon())
		k.q.listens() // if a watch has begun meanwhile, the next request comes after it
		return err
	}
	if left <= 0 {
		left = blindPause
	}
	if err := k.pause(ctx, min(left, longestWait)+time.Millisecond, k.q.watch.C()); err != nil {
		return err
	}
	k.othersOut(k.q.client.now())
	return nil
}

// pause waits for a signal, a time, the context, or the client's end.
func (k *contest) pause(ctx context.Context, d time.Duration, signal <-chan struct{}) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-signal:
	case <-timer.C:
	case <-ctx.Done():
		return endedAfter(k.whyNot())
	case <-k.q.client.closed:
		return opError("lock", k.req.Name, ErrClosed)
	}
	return nil
}

// whyNot returns why the lock was not had when it was asked for last: by this one, or
// else by whoever was at the front before.
func (k *contest) whyNot() error {
	k.q.part.mu.Lock()
	defer k.q.part.mu.Unlock()
	return cmp.Or(k.failure, k.refusal, k.q.why)
}

// giveUp cleans up after a contest that failed.
func (k *contest) giveUp() {
	k.settleOwner()
	if k.deaf != nil {
		k.q.fail(k.deaf)
		return
	}
	k.q.leave()
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// pollPause grows from poll to poll, and never outlasts the holder's lease.
func pollPause(refusals int, left time.Duration) time.Duration {
	d := min(firstPoll<<min(refusals-1, 10), longestPoll)
	if left > 0 {
		d = min(d, left+time.Millisecond)
	}
	return d
}

// backOff grows from failure to failure: 10 ms up to 640 ms.
func backOff(failures int) time.Duration {
	return 10 * time.Millisecond << min(failures-1, 6)
}

// jitter spreads a duration over half to one and a half of it, so that
// contenders do not keep step.
func (c *Client) jitter(d time.Duration) time.Duration {
	return d/2 + c.draw(d+1)
}
