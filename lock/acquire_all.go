package lock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/timelimit"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/outcome"
)

// Together reports whether the backend can grant those locks in one step, see [Client.TryAll]: not every one can, and
// not those that are on different servers.
func (c *Client) Together(locks ...*Mutex) bool {
	b, ok := c.backend.(driver.Bundler)
	if !ok || len(locks) > driver.MaxBundle {
		return false
	}
	names := make([]string, len(locks))
	for i, m := range locks {
		if names[i] = m.want.name; m.client != c || m.want.fair || m.want.mode != driver.Exclusive {
			return false
		}
	}
	return b.Together(names)
}

// TryAll takes several locks of the client if all of them are free, in one step of the backend: all or none. They are
// to be [Client.Together], have different names, and are not Fair; else nothing happens, and the error is an
// [*InvalidError], or matches [ErrUnsupported]. It fails with [ErrHeld] if one is held, which the error names, and as
// [Mutex.TryLock] does.
//
// The leases come in the order in which their contexts descend from each other: that of the last one ends when any of
// them is lost, and re-enters any of them. Each is unlocked by itself.
func (c *Client) TryAll(ctx context.Context, locks ...*Mutex) ([]*Lease, error) {
	if err := c.checkAll(ctx, locks); err != nil {
		return nil, err
	}
	b := &bundle{client: c, ctx: ctx, parent: ctx, start: time.Now()}
	ended := false
	defer func() {
		if !ended { // the backend has panicked, which its caller may survive: others may try
			_ = b.undo(ErrReleased)
		}
	}()
	leases, err := b.takeAll(locks)
	ended = true
	return leases, err
}

// takeAll gathers what there is, and asks for the rest.
func (b *bundle) takeAll(locks []*Mutex) ([]*Lease, error) {
	if err := b.gatherLeases(locks); err != nil {
		return nil, b.undo(err)
	}
	if err := b.askForAll(); err != nil {
		return nil, b.undo(err)
	}
	return b.leases, nil
}

func (c *Client) checkAll(ctx context.Context, locks []*Mutex) error {
	if ctx == nil {
		return errNilContext()
	}
	if len(locks) == 0 || len(locks) > driver.MaxBundle {
		return input.Errorf("locks", "are %d, allowed are 1 to %d", len(locks), driver.MaxBundle)
	}
	seen := make(map[string]bool, len(locks))
	for _, m := range locks {
		switch {
		case m == nil:
			return &InvalidError{Field: "locks", Problem: "has a nil"}
		case seen[m.want.name]:
			return input.Errorf("locks", "has %q twice", m.want.name)
		}
		seen[m.want.name] = true
		if err := m.checkCall(ctx); err != nil {
			return err
		}
	}
	if !c.Together(locks...) {
		return fmt.Errorf("lock: these locks cannot be had in one step: %w", ErrUnsupported)
	}
	return nil
}

// bundle is one TryAll.
type bundle struct {
	client *Client
	ctx    context.Context //nolint:containedctx // that of the call
	parent context.Context //nolint:containedctx // that the next lease's is made from
	start  time.Time
	leases []*Lease
	bids   []*contest // for what is not here already
}

// gatherLeases takes what is in this process, and comes to the front of the queues of the others.
func (b *bundle) gatherLeases(locks []*Mutex) error {
	for _, m := range locks {
		lease, err := m.reenter(b.parent)
		if lease == nil && err == nil {
			lease, err = b.queueUp(&m.want)
		}
		if err != nil {
			return err
		}
		if lease != nil {
			b.addLease(lease)
		}
	}
	return nil
}

// queueUp comes to the front of a name's queue, or has a lease at once.
func (b *bundle) queueUp(w *want) (*Lease, error) {
	c := b.client
	c.observe(b.ctx, Event{Kind: EventQueued, Name: w.name})
	lease, err := b.toFront(w)
	if err != nil {
		err = describeWait(b.ctx, w.name, b.start, err)
		c.observe(b.ctx, Event{Kind: EventLeft, Name: w.name, Wait: time.Since(b.start), Err: err})
	}
	if lease != nil {
		b.acquired(lease)
	}
	return lease, err
}

func (b *bundle) toFront(w *want) (*Lease, error) {
	if lease := b.client.withoutAsking(b.parent, w); lease != nil {
		return lease, nil
	}
	q, behind, err := b.client.queues.enterQueue(b.parent, w, "", true, b.start)
	if err != nil {
		return nil, err
	}
	if behind != nil {
		return q.tryWhenVacated(b.ctx, b.parent, behind)
	}
	b.client.observe(b.ctx, Event{Kind: EventContending, Name: w.name})
	owner := b.client.newOwner()
	b.bids = append(b.bids, &contest{q: q, want: w, came: b.start, asked: b.start, try: true, req: w.request(owner)})
	return nil, nil //nolint:nilnil // there is a bid instead
}

func (b *bundle) addLease(l *Lease) {
	b.leases, b.parent = append(b.leases, l), l.Context()
}

func (b *bundle) acquired(l *Lease) {
	l.acquired = time.Now()
	b.client.observe(b.ctx, Event{
		Kind: EventAcquired, Name: l.Name(), Owner: l.Owner(), Token: l.token, Wait: l.acquired.Sub(b.start),
	})
}

// askForAll asks the backend for all that is not here.
func (b *bundle) askForAll() error {
	if len(b.bids) == 0 {
		return nil
	}
	grants, err := b.request()
	if err != nil {
		return b.refused(err)
	}
	for i, k := range b.bids {
		k.enterGrant()
		lease, err := k.acceptGrant(b.ctx, b.parent, grants[i], k.sent, grants[i].TTL)
		if err != nil { // it came too late, or its caller has gone: so did all after it
			for j := i + 1; j < len(b.bids); j++ {
				b.bids[j].abandonOwner(&grants[j])
			}
			err = describeWait(b.ctx, k.req.Name, b.start, k.markUnknown(err, true))
			b.bids = b.bids[i:]
			return err
		}
		b.acquired(lease)
		b.addLease(lease)
	}
	b.bids = nil
	return nil
}

// request makes the one request.
func (b *bundle) request() ([]driver.Grant, error) {
	c := b.client
	reqs, sent, asked := make([]driver.Request, len(b.bids)), c.now(), time.Now()
	for i, k := range b.bids {
		k.forgetWakeUps()
		k.req.Tokens = k.q.tokensWanted(k.want, false)
		k.sent, k.asked = sent, asked
		k.q.beginSilence(sent)
		k.announceOwner()
		reqs[i] = k.req
	}
	call := &timelimit.Context{}
	call.Begin(b.ctx, c.answers.Present(sent))
	defer call.End()
	grants, err := c.backend.(driver.Bundler).AcquireAll(call, reqs)
	if err == nil {
		return grants, nil
	}
	for _, k := range b.bids {
		k.doubt = k.doubt.After(err)
	}
	if call.Err() != nil && b.ctx.Err() == nil && outcome.IsContextError(err) {
		return nil, b.bids[0].noAnswer(err)
	}
	return nil, outcome.NotTheCallersEnd(b.ctx, err)
}

// refused records why nothing was granted, and returns what to tell of it.
func (b *bundle) refused(err error) error {
	held, isHeld := errors.AsType[*driver.HeldError](err)
	told := b.bids[0]
	for _, k := range b.bids {
		if isHeld && k.req.Name == held.Name {
			told = k
		}
	}
	var why error
	for _, k := range b.bids {
		switch {
		case k == told:
			why = k.recordFailure(b.ctx, err)
		case isHeld:
			k.q.endSilence()
			k.q.endFailing()
		default:
			_ = k.recordFailure(b.ctx, err)
		}
	}
	return describeWait(b.ctx, told.req.Name, b.start, told.markUnknown(why, true))
}

// undo gives back what was had, and returns why.
func (b *bundle) undo(why error) error {
	for _, k := range b.bids {
		b.client.observe(b.ctx, Event{Kind: EventLeft, Name: k.req.Name, Wait: time.Since(b.start), Err: why})
		k.giveUp()
	}
	for _, l := range slices.Backward(b.leases) {
		_ = l.Unlock(b.ctx) // what is not certain goes on in the background
	}
	return why
}
