package lock

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/internal/settle"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/outcome"
)

// contest is one contender's try for the backend's lock.
type contest struct {
	q    *queue
	want *want
	try  bool
	req  driver.Request

	refusals int
	behind   bool          // it has waited in the queue
	inside   bool          // somebody else was in when it asked last
	isNext   bool          // the store keeps others off for it
	others   bool          // somebody else has had the lock
	yielded  bool          // it held back for others
	once     bool          // and the first refusal after that is yet to come
	refusal  error         // what the last answer was, if that was a refusal
	sent     time.Duration // when the last request was made
	came     time.Time     // when its wait began, in the queue perhaps
	asked    time.Time     // the same moment as sent, or a little before
	failure  error         // why the last request got no answer
	doubt    *settle.Doubt // of requests under the present owner
	deaf     error         // why the backend was given up
	waited   bool          // the store knows that it waits
	again    time.Duration // when to ask again, so that it goes on knowing
	handed   driver.Grant  // what was passed on to it, or may have been

	given []*release // what owners before were granted, or may have been
}

// contend asks the backend until the lock is granted, ctx ends, or the backend
// has not answered for too long. Only the front of the queue contends.
// It came to the queue once, and to its front now.
func (q *queue) contend(ctx, parent context.Context, w *want, came, now time.Time, try bool) (*Lease, error) {
	q.client.observe(parent, Event{Kind: EventContending, Name: w.name})
	k := contest{q: q, want: w, came: came, asked: now, try: try, req: w.request(q.client.newOwner())}
	k.behind = now.After(came)
	k.req.Over, k.req.Waits = q.overOwner(), !try && w.saysThatItWaits()
	k.adoptStanding()
	ended := false
	defer func() {
		if !ended { // the backend has panicked, which its caller may survive: others may try
			q.passFront(nil)
		}
	}()
	lease, err := k.run(ctx, parent)
	ended = true
	if err != nil {
		settled := k.settleStanding()
		err = k.markUnknown(err, settled)
		k.giveUp()
		return nil, err
	}
	q.stepAside(lease.hold)
	return lease, nil
}

// markUnknown marks the end of a contest that may have been granted the lock all the same,
// whoever has broken its request off. A refusal is an answer, but for the owner that asked alone.
func (k *contest) markUnknown(err error, settled bool) error {
	if settled && k.doubt.Resolved() && !k.givingBack() || MaybeApplied(err) {
		return err
	}
	return outcome.Unknown(err)
}

func (k *contest) run(ctx, parent context.Context) (*Lease, error) {
	if k.q.failures > 0 { // whoever was at the front has asked just now
		if err := k.pauseFor(ctx, k.retryPause(), nil); err != nil {
			return nil, err
		}
		k.asked = time.Now()
	}
	if err := k.awaitBacklog(ctx); err != nil {
		return nil, err
	}
	k.q.resumeListening()
	for {
		lease, err := k.tryOnce(ctx, parent)
		if err == nil {
			return lease, nil
		}
		if err := k.recordFailure(ctx, err); err != nil {
			return nil, err
		}
		if errors.Is(err, driver.ErrSpent) {
			k.abandonOwner(k.unanswered())
		}
		if err := k.waitToAskAgain(ctx, err); err != nil {
			return nil, err
		}
		k.asked = time.Now()
	}
}

// abandonOwner gives the owner up, under which nobody may ask any more, and goes on under
// another. What it was granted, or may have been, is given back in the background.
func (k *contest) abandonOwner(g *driver.Grant) {
	if g != nil {
		k.given = append(slices.DeleteFunc(k.given, (*release).isOver), k.q.client.releaseUnknown(*g, k.doubt))
	}
	k.q.endStanding()
	if k.q.fair {
		k.q.stopListening()
	}
	k.req.Owner, k.doubt, k.waited = k.q.client.newOwner(), nil, false
}

// unanswered returns what the present owner may have been granted by requests that got no answer; nil
// if there were none.
func (k *contest) unanswered() *driver.Grant {
	if k.doubt == nil {
		return nil
	}
	g := k.req.Ungranted()
	return &g
}

// givingBack reports whether an owner before may have the lock still.
func (k *contest) givingBack() bool {
	return slices.ContainsFunc(k.given, func(r *release) bool { return !r.isOver() })
}

// tryOnce takes what was passed on, or makes one request.
func (k *contest) tryOnce(ctx, parent context.Context) (*Lease, error) {
	if err := k.yield(ctx); err != nil {
		return nil, err
	}
	if grant, handed := k.takeHanded(); handed {
		return k.inherit(ctx, parent, grant)
	}
	return k.askBackend(ctx, parent)
}

// askBackend makes one request.
func (k *contest) askBackend(ctx, parent context.Context) (*Lease, error) {
	c := k.q.client
	k.forgetWakeUps()
	k.req.Linger = k.mayLinger()
	k.req.Tokens = k.q.tokensWanted(k.want, k.req.Linger > 0)
	k.sent = c.now()
	k.q.beginSilence(k.sent)
	k.doubt.Ask()
	grant, err := k.acquireOnce(ctx)
	if err != nil {
		return nil, err
	}
	k.enterGrant()
	return k.acceptGrant(ctx, parent, grant, k.sent, grant.TTL)
}

// acceptGrant makes a grant the caller's that lives for so long from some time after sent.
func (k *contest) acceptGrant(
	ctx, parent context.Context, grant driver.Grant, sent, life time.Duration,
) (*Lease, error) {
	lease, err := k.q.takeGrant(ctx, parent, k.want, grant, sent, life, k.doubt)
	if err != nil { // it came too late, or its caller has gone
		k.abandonOwner(&grant)
		return nil, err
	}
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

// recordFailure records why a request was not granted. It returns the error that ends the
// contest, or nil to go on.
func (k *contest) recordFailure(ctx context.Context, err error) error {
	held := errors.Is(err, driver.ErrHeld)
	if held || isAnswer(err) {
		k.q.endSilence()
	}
	if held { // whatever ends the contest now, the request stands, or waits
		k.recordStanding(err)
		k.waited = k.waited || k.req.Waits
	}
	if isClosed(k.q.client.closed) {
		return opError("lock", k.req.Name, ErrClosed)
	}
	if held {
		refusal := k.heldError(err)
		k.q.endFailing()
		k.failure, k.refusal = nil, refusal
		k.enterRefusal(refusal.Owner)
		k.q.habit.enterShared(k.q.client.now())
		k.q.recordWhyNot(k.refusal)
		if k.try {
			return k.refusal
		}
		return nil
	}
	if errors.Is(err, errEnded) {
		return err
	}
	switch {
	case ctx.Err() == nil || isAnswer(err):
		k.recordError(err)
	case k.q.failures > 0: // one more that was in vain
		k.q.planRetry()
	}
	if ctx.Err() != nil {
		return k.waitEnded(ctx, err)
	}
	if k.try || errors.Is(err, driver.ErrRefused) {
		return k.acquireFailed(err)
	}
	k.refusal, k.failure = nil, err
	if k.q.outOfPatience(k.came) {
		k.deaf = err
		return k.acquireFailed(err)
	}
	return nil
}

// waitEnded tells the end of a wait that has broken off a request. If the longest wait
// has passed, the lock is held, for it was so a moment ago; if the backend was silent
// for longer than that, nobody can say, but what it had said before.
func (k *contest) waitEnded(ctx context.Context, err error) error {
	if !waitPassed(ctx) {
		return k.endedAfter(ctx, err)
	}
	held := k.heldAMomentAgo()
	switch {
	case held != nil:
		return k.inDoubt(held) // its owner has asked again since
	case errors.Is(err, ctx.Err()):
		return k.acquireFailed(k.noAnswer(err))
	default:
		return k.acquireFailed(err)
	}
}

// heldAMomentAgo returns the refusal that this contest got last, or while it waited in the queue the one before;
// nil if it knows of none, or the backend has been silent since. Who waited in the queue was kept from the lock by
// those before it, if by nobody else.
func (k *contest) heldAMomentAgo() error {
	switch why := k.knownStill(); {
	case errors.Is(why, ErrHeld):
		return why
	case why == nil && k.behind:
		return &HeldError{Name: k.req.Name}
	}
	return nil
}

// endedAfter tells the end of the context, and why the lock was not had before: a
// refusal, or the last failure, which is not what the context's own end has broken off.
func (k *contest) endedAfter(ctx context.Context, err error) error {
	if errors.Is(err, ctx.Err()) {
		err = k.knownStill()
	}
	return endedAfter(err)
}

func (k *contest) acquireFailed(err error) error {
	return opError("acquire", k.req.Name, k.inDoubt(err))
}

// inDoubt marks an error where a request under the present owner may have been granted.
func (k *contest) inDoubt(err error) error {
	if k.doubt.Resolved() {
		return err
	}
	return outcome.Unknown(err)
}

// heldError translates the backend's refusal.
func (k *contest) heldError(err error) *HeldError {
	e := &HeldError{Name: k.req.Name}
	if refusal, ok := errors.AsType[*driver.HeldError](err); ok {
		e.Owner, e.Waits, e.Place, k.again = refusal.Owner, refusal.Waits, refusal.Place, refusal.Again
	}
	if k.again == 0 && k.want.mode == driver.Write {
		k.again = lookAgain
	}
	if left := driver.TimeLeft(err); left != driver.UnknownTTL {
		e.Until = time.Now().Add(left)
	}
	return e
}

// whyNot returns why the lock was not had when it was asked for last: by this one, or
// else by whoever was at the front before.
func (k *contest) whyNot() error {
	k.q.part.mu.Lock()
	defer k.q.part.mu.Unlock()
	return cmp.Or(k.failure, k.refusal, k.q.why)
}

// knownStill returns why the lock was not had, or since when nobody can say whether that is so still.
func (k *contest) knownStill() error { return k.q.unlessSilent(k.whyNot(), k.came) }

// giveUp cleans up after a contest that failed.
func (k *contest) giveUp() {
	if k.doubt != nil || k.waited {
		k.q.endStanding()
		k.q.client.releaseUnknown(k.req.Ungranted(), k.doubt)
	}
	if k.deaf != nil {
		k.q.failPatient(k.deaf)
		return
	}
	k.q.passFront(nil)
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}
