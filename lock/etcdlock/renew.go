package etcdlock

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/internal/bootclock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// renewal is that of a grant.
type renewal struct {
	grant   *driver.Grant
	entry   *entry
	created int64
	err     *error
}

// Renew implements [driver.Backend]. Each lease is prolonged once, and the keys are looked at by a transaction that
// shows whether that was done by who may: see confirm.go.
func (b *backend) Renew(ctx context.Context, grants []driver.Grant) []error {
	errs := make([]error, len(grants))
	byLease := make(map[*lease][]renewal)
	var moving []int // to another lease
	for i := range grants {
		g := &grants[i]
		if errs[i] = driver.Refused(driver.CheckOwner(g.Owner)); errs[i] != nil {
			errs[i] = describe("renew", g.Name, errs[i])
			continue
		}
		e := b.grants.find(b.layout.key(g.Name, g.Owner))
		if e == nil {
			moving = append(moving, i)
			continue
		}
		by, created, ok := b.grants.leaseOf(e)
		switch {
		case !ok && b.grants.isUndecided(e): // another renewal of it is under way perhaps
			moving = append(moving, i)
		case !ok:
			errs[i] = describe("renew", g.Name, driver.ErrLost)
		case by.isTooShort(g.TTL), by.isTooLong(g.TTL), by.isLeft():
			moving = append(moving, i)
		default:
			byLease[by] = append(byLease[by], renewal{grant: g, entry: e, created: created, err: &errs[i]})
		}
	}
	for by, batch := range byLease {
		b.renewBatch(ctx, by, batch)
	}
	b.adoptAll(ctx, grants, moving, errs)
	return errs
}

// isTooShort reports whether a lease does not live for as long as a grant is to, when it is prolonged.
func (l *lease) isTooShort(life time.Duration) bool { return l == nil || l.length < life }

// isTooLong reports whether a lease was made for grants that are to live for longer. Who leaves a grant for a short
// rest of its life may be gone before that is over: nobody would be there to end it.
func (l *lease) isTooLong(life time.Duration) bool {
	return l.asked > leaseLength(max(life, leastAdopted))
}

// renewBatch renews grants that are kept by one lease.
func (b *backend) renewBatch(ctx context.Context, by *lease, batch []renewal) {
	sent := bootclock.Now()
	for i := range batch { // it must not end while it is being renewed
		if r := &batch[i]; !b.grants.atLeast(r.entry, sent+r.grant.TTL) {
			*r.err = driver.ErrLost
		}
	}
	if err := b.leases.prolong(ctx, by); err != nil {
		if isNoLease(err) {
			err = driver.ErrLost
		}
		setAll(batch, err)
	}
	for part := range slices.Chunk(batch, mostRead) {
		b.lookAt(ctx, by, part)
	}
	for i := range batch {
		b.endRenewal(&batch[i], sent)
	}
}

// mostRead is how many keys are looked at in one transaction: servers allow 128 comparisons, and it is two for each.
const mostRead = 64

// setAll enters an error for those that have none.
func setAll(batch []renewal, err error) {
	for i := range batch {
		if *batch[i].err == nil {
			*batch[i].err = err
		}
	}
}

// lookAt looks whether the keys are there, and kept by the lease. Where all are, as nearly always, nothing is read:
// keys alone would do, but servers since 3.7 do not tell their leases.
func (b *backend) lookAt(ctx context.Context, by *lease, batch []renewal) {
	var holds []clientv3.Cmp
	var ops []clientv3.Op
	var asked []*renewal
	for i := range batch {
		if r := &batch[i]; *r.err == nil {
			holds = append(holds, clientv3.Compare(clientv3.CreateRevision(r.entry.grantKey), "=", r.created),
				clientv3.Compare(clientv3.LeaseValue(r.entry.grantKey), "=", by.id))
			ops = append(ops, clientv3.OpGet(r.entry.grantKey))
			asked = append(asked, r)
		}
	}
	if len(ops) == 0 {
		return
	}
	resp, err := b.client.Txn(clientv3.WithRequireLeader(ctx)).If(holds...).Else(ops...).Commit()
	if half := len(batch) / 2; half > 0 && errors.Is(err, rpctypes.ErrTooManyOps) { // servers may allow fewer
		b.lookAt(ctx, by, batch[:half])
		b.lookAt(ctx, by, batch[half:])
		return
	}
	if err == nil && !by.isOfTerm(resp.Header.RaftTerm) {
		err = errAnotherLeader
	}
	if err != nil || resp.Succeeded {
		setAll(batch, err)
		return
	}
	for i, r := range asked {
		kvs := resp.Responses[i].GetResponseRange().GetKvs()
		switch {
		case len(kvs) == 0 || kvs[0].CreateRevision != r.created:
			*r.err = driver.ErrLost
		case clientv3.LeaseID(kvs[0].Lease) != by.id: // an answer was lost
			*r.err = b.adopt(ctx, r.grant)
		}
	}
}

// endRenewal enters what became of a renewal. A life that is shorter than before counts once it is known to be so.
func (b *backend) endRenewal(r *renewal, sent time.Duration) {
	err := *r.err
	switch {
	case err == nil && !b.grants.prolong(r.entry, sent+r.grant.TTL):
		err = driver.ErrLost
	case err == driver.ErrLost: //nolint:errorlint // it is not wrapped yet
		b.grants.forgetLost(r.entry)
	}
	if *r.err = err; err != nil {
		*r.err = describe("renew", r.grant.Name, err)
	}
}

// leastAdopted is how long a grant lives at least that is being adopted: it must not end meanwhile.
const leastAdopted = time.Second

// adopt renews a grant that is not kept by a lease of this client that lives for long enough.
func (b *backend) adopt(ctx context.Context, g *driver.Grant) error {
	req := requestOf(g)
	req.TTL = max(g.TTL, leastAdopted)
	a, err := b.newAttempt(ctx, req, "")
	if err != nil {
		return describe("renew", g.Name, err)
	}
	v, err := a.find(ctx)
	switch {
	case err != nil:
	case v.own == nil || v.own.state == waits && !v.own.elects: // who only waits has no grant
		err = driver.ErrLost
	default:
		if err = a.takeOver(ctx, v, g); err == nil {
			return nil
		}
	}
	if a.isNew && !a.mayHaveMoved(v, err) {
		b.grants.forgetAttempt(a.entry, a.sent+req.TTL)
	}
	return describe("renew", g.Name, err)
}

// takeOver has the key of a grant kept by a lease of this client. The grant is in the book before that: it has to end
// in time where the answer is lost, and goes on when it is renewed once more.
func (a *attempt) takeOver(ctx context.Context, v *view, g *driver.Grant) error {
	a.b.grants.enterGrant(a.entry, v.own.created, int64(g.Token>>tokenBits))
	if err := a.confirm(ctx, v, a.lease); err != nil {
		return err
	}
	if !a.b.grants.prolong(a.entry, a.sent+g.TTL) { // it is being ended
		return errBehind
	}
	return nil
}

// mayHaveMoved reports whether a key may be kept by the lease of this client though it could not be adopted. Of one
// that is gone there is nothing to end.
func (a *attempt) mayHaveMoved(v *view, err error) bool {
	switch {
	case v == nil, v.own == nil, errors.Is(err, driver.ErrLost), errors.Is(err, errBehind):
		return false
	case v.own.lease == a.lease.id:
		return true
	}
	return classOf(err) == nil && !errors.Is(err, driver.ErrRefused)
}

// mostMoved is how many grants are adopted at a time: it may be that all of a client are, when their lease is left.
const mostMoved = 32

// adoptAll adopts some of the grants, by their numbers.
func (b *backend) adoptAll(ctx context.Context, grants []driver.Grant, moving []int, errs []error) {
	var group sync.WaitGroup
	for first := range min(len(moving), mostMoved) {
		group.Go(func() {
			for at := first; at < len(moving); at += mostMoved {
				errs[moving[at]] = b.adopt(ctx, &grants[moving[at]])
			}
		})
	}
	group.Wait()
}

// find looks for the own key.
func (a *attempt) find(ctx context.Context) (*view, error) {
	resp, err := a.b.client.Get(clientv3.WithRequireLeader(ctx), a.entry.grantKey)
	if err != nil {
		return nil, err
	}
	v := &view{revision: resp.Header.Revision, term: resp.Header.RaftTerm}
	for _, kv := range resp.Kvs {
		if c, ok := a.b.layout.readContender(a.folder, kv); ok {
			v.own = &c
		}
	}
	return v, nil
}
