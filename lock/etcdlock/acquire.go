package etcdlock

import (
	"context"
	"errors"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/internal/bootclock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// longestClaim is how long a place in line is kept at most that nobody asks for again. Whoever has it is in this
// process, and gives it back by itself: the claim is for when that does not come to the store.
const longestClaim = 30 * time.Second

// Acquire implements [driver.Backend].
func (b *backend) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	queues := state("")
	if req.Waits {
		queues = waits
	}
	return b.acquire(ctx, &req, queues)
}

// Stand implements [driver.Successor].
func (b *backend) Stand(ctx context.Context, req driver.Request) (driver.Grant, error) {
	switch {
	case b.tell != nil && !b.layout.elects && !isCrowd(req.Mode) && (!req.Fair || req.Waits):
		return b.acquire(ctx, &req, stands)
	default:
		return b.Acquire(ctx, req)
	}
}

// acquire asks for a lock. Who is refused has a place in line, if it queues.
func (b *backend) acquire(ctx context.Context, req *driver.Request, queues state) (driver.Grant, error) {
	if err := b.check(ctx, req); err != nil {
		return driver.Grant{}, describe("acquire", req.Name, err)
	}
	g, err := b.attemptOnce(ctx, req, queues)
	if isNoLease(err) { // nothing was done, and another lease is made now
		g, err = b.attemptOnce(ctx, req, queues)
	}
	if err != nil {
		if refusal, ok := err.(*driver.HeldError); ok { //nolint:errorlint // made here, and not wrapped
			return driver.Grant{}, refusal
		}
		return driver.Grant{}, describe("acquire", req.Name, err)
	}
	return g, nil
}

// attemptOnce asks once, with a lease that the store is believed to have.
func (b *backend) attemptOnce(ctx context.Context, req *driver.Request, queues state) (driver.Grant, error) {
	a, err := b.newAttempt(ctx, req, queues)
	if err != nil {
		return driver.Grant{}, notSent(err)
	}
	g, err := a.run(ctx)
	if err != nil {
		a.leaveNothing(err)
	}
	a.lease.enterError(err)
	if a.placeLease != nil {
		a.placeLease.enterError(err)
	}
	return g, err
}

// check refuses what this backend lacks.
func (b *backend) check(ctx context.Context, req *driver.Request) error {
	if b.life.Err() != nil {
		return errClosed
	}
	if err := ctx.Err(); err != nil {
		return notSent(err)
	}
	if err := b.checkMode(req); err != nil {
		return err
	}
	return driver.Refused(driver.CheckOwner(req.Owner))
}

// checkMode refuses what cannot be had of a lock: with raw names all keys are mutexes.
func (b *backend) checkMode(req *driver.Request) error {
	plain := *req
	plain.Fair = false // the line is in order of coming
	if !b.layout.raw && !req.Fair {
		plain.Mode = driver.Exclusive
	}
	return plain.CheckExclusive()
}

// attempt is one request for a lock.
type attempt struct {
	b      *backend
	req    *driver.Request
	queues state // what the key is of who is refused, if it has one then
	folder string
	// placeKey is where it waits, if that is another key than the one by which it has the lock.
	placeKey string
	lease    *lease // by which it has the lock
	// placeLease is that by which its key is made when it is refused; nil if it has none then.
	placeLease *lease
	entry      *entry
	isNew      bool          // the store has nothing of its owner that is known of
	sent       time.Duration // since when its time counts
}

// newAttempt prepares a request: there is a lease that lives for long enough.
func (b *backend) newAttempt(ctx context.Context, req *driver.Request, queues state) (*attempt, error) {
	a := &attempt{b: b, req: req, queues: queues, folder: b.layout.folder(req.Name), sent: bootclock.Now()}
	a.placeKey = b.layout.placeKey(req)
	lease, err := b.leases.leaseFor(ctx, req.TTL)
	if err != nil {
		return nil, err
	}
	a.lease = lease
	if queues != "" && !isCrowd(req.Mode) { // whose places have keys of their own, made later
		if a.placeLease, err = a.leaseOfPlace(ctx); err != nil {
			return nil, err
		}
	}
	a.entry, a.isNew, err = b.grants.beginRequest(req, b.layout, a.sent+req.TTL)
	if err != nil {
		return nil, err
	}
	if a.isNew {
		b.grants.setLease(a.entry, lease)
	}
	return a, nil
}

// leaseOfPlace returns the lease by which somebody waits. It lives for the claim alone: nobody is there to end the
// place of a process that is gone, however long it wanted to have the lock.
func (a *attempt) leaseOfPlace(ctx context.Context) (*lease, error) {
	return a.b.leases.leaseFor(ctx, a.claimTime())
}

// leaveNothing forgets an attempt that has left nothing in the store. While it is not certain that nothing is there,
// it is deleted when its time is over.
func (a *attempt) leaveNothing(err error) {
	_, refused := err.(*driver.HeldError) //nolint:errorlint // made here, and not wrapped
	_, afterwards := errors.AsType[*afterwardsError](err)
	nothing := classOf(err) != nil || errors.Is(err, driver.ErrRefused) && !afterwards
	if a.isNew && (refused && a.queues == "" || nothing) {
		a.b.grants.forgetEntry(a.entry)
	}
}

// enterError enters what the error says of a lease by which a key was to be made.
func (l *lease) enterError(err error) {
	switch _, afterwards := errors.AsType[*afterwardsError](err); {
	case err == nil || afterwards || errors.Is(err, driver.ErrHeld):
	case isNoLease(err):
		l.markGone()
	case classOf(err) == nil && !errors.Is(err, driver.ErrRefused) && !errors.Is(err, driver.ErrUnavailable):
		l.letRunOut()
	}
}

// claimTime is for how long a place is kept without asking again, and how long what it is granted unasked lives.
func (a *attempt) claimTime() time.Duration {
	if isCrowd(a.req.Mode) {
		return min(a.req.TTL, longestPlace)
	}
	return min(a.req.TTL, longestClaim)
}

// run asks until the answer is of use.
func (a *attempt) run(ctx context.Context) (driver.Grant, error) {
	if isCrowd(a.req.Mode) {
		return a.runInCrowd(ctx)
	}
	v, err := a.askUntilHeld(ctx)
	if err != nil {
		return driver.Grant{}, err
	}
	if v.own == nil {
		return driver.Grant{}, a.refused(v)
	}
	g, err := a.keepKey(ctx, v)
	if err != nil {
		return driver.Grant{}, &afterwardsError{err}
	}
	if g.Token == 0 {
		return driver.Grant{}, a.refused(v)
	}
	return g, nil
}

// askUntilHeld asks until somebody has the lock.
func (a *attempt) askUntilHeld(ctx context.Context) (*view, error) {
	v, err := a.askForFree(ctx)
	for try := 0; err == nil && v.isFree(); try++ { // but for what is of other locks, which hides that
		if try == mostTries {
			return nil, errOutrun
		}
		v, err = a.askAfter(ctx, v.revision)
	}
	return v, err
}

// keepKey sees to it that the own key is kept for as long as is told, and returns what is granted by it, if anything
// is.
func (a *attempt) keepKey(ctx context.Context, v *view) (driver.Grant, error) {
	if !v.isOurs() {
		by, err := a.leaseOfPlace(ctx)
		if err != nil {
			return driver.Grant{}, err
		}
		return driver.Grant{}, a.confirm(ctx, v, by)
	}
	if err := a.confirm(ctx, v, a.lease); err != nil {
		return driver.Grant{}, err
	}
	return a.acceptFirst(ctx, v)
}

// mostTries is how often something is tried that others can thwart.
const mostTries = 20

// acceptFirst enters that the first key is the own one.
func (a *attempt) acceptFirst(ctx context.Context, v *view) (driver.Grant, error) {
	first, since := *v.own, v.revision // as it is since it is kept by another lease
	if first.state == waits && !first.elects {
		if err := a.takeTurn(ctx, &first, v.revision); err != nil {
			return driver.Grant{}, err
		}
	}
	if at := first.grantedAt(); at > 0 {
		since = at
	} // else the client knows since when, or it is at least since now
	if err := checkRevision(v.revision); err != nil {
		return driver.Grant{}, err
	}
	return a.b.grants.enterGrant(a.entry, first.created, since), nil
}

// takeTurn has the lock when it is one's turn, as it was at a revision already.
func (a *attempt) takeTurn(ctx context.Context, own *contender, since int64) error {
	r := own.record
	r.state, r.since, r.token = taken, time.Now(), since
	resp, err := a.b.commit(ctx, clientv3.Compare(clientv3.ModRevision(own.key), "=", own.modified),
		clientv3.OpPut(own.key, a.b.layout.encode(&r), clientv3.WithLease(own.lease)))
	switch {
	case err != nil:
		return err
	case !resp.Succeeded: // it was deleted, or noted beside
		return errBehind
	}
	own.record = r
	return nil
}

// refused tells who has the lock, and what place the request has.
func (a *attempt) refused(v *view) *driver.HeldError {
	first, own := &v.line[0], v.placeOf(a.entry.key)
	e := &driver.HeldError{Owner: first.owner, TTL: first.life(), Waits: first.state == waits}
	newest := lastToken(v.revision)
	if first.elects {
		newest = lastToken(first.created)
	}
	if a.req.Fair {
		e.Token = newest
	}
	if own < 0 {
		return e
	}
	claim := a.claimTime()
	if a.b.layout.elects { // which does not say so
		v.own.state = a.queues
	}
	a.b.grants.enterQueue(a.entry, v.own, a.sent+claim)
	a.b.followLine(a.req.Name)
	e.Again, e.Token = claim, newest
	if a.req.Fair {
		e.Place = own
		if e.Waits {
			e.Place++
		}
		e.Listen = v.own.state == waits
	}
	if v.own.state == stands {
		e.Claim, e.Rising = claim, true
	}
	return e
}
