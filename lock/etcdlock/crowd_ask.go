package etcdlock

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/internal/bootclock"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// runInCrowd asks for a lock that several may have at once until the answer is of use.
func (a *attempt) runInCrowd(ctx context.Context) (driver.Grant, error) {
	v, refusal, err := a.askCrowd(ctx)
	if err != nil {
		return driver.Grant{}, err
	}
	if refusal != nil {
		return driver.Grant{}, a.refusedInCrowd(ctx, v, refusal)
	}
	v.own = v.others.holderOf(a.req.Owner)
	err = a.confirm(ctx, v, a.lease)
	if err == nil {
		err = checkRevision(v.revision)
	}
	if err == nil && !a.b.grants.prolong(a.entry, a.sent+a.req.TTL) { // it was as long as a place is kept
		err = errBehind
	}
	if err != nil {
		return driver.Grant{}, &afterwardsError{err}
	}
	return a.b.grants.enterGrant(a.entry, v.own.created, v.own.created), nil
}

// askCrowd asks until the owner has the lock, or has its place among those who wait if it has one.
func (a *attempt) askCrowd(ctx context.Context) (v *view, refusal *driver.HeldError, err error) {
	v, known := a.b.knownView(a.req.Name)
	if !known {
		v, err = a.askUnread(ctx)
	}
	for try := 0; ; try++ {
		if err == nil && !a.pauseOutrun(ctx, try) {
			if err = context.Cause(ctx); a.isNew {
				err = notSent(err)
			}
		}
		if err != nil || !known && v.others.holderOf(a.req.Owner) != nil {
			return v, nil, err
		}
		refusal, err = a.whoRefuses(v)
		switch {
		case refusal == nil && err == nil:
			v, err = a.takePart(ctx, v)
		case known: // it may be of a while ago
			v, err = a.readFolder(ctx)
		case err != nil:
			a.endPlace()
			return nil, nil, err
		case a.queues != "" && a.placeKey != "" && v.others.placeOf(a.req.Owner) == nil:
			v, err = a.takePlace(ctx, v)
		default:
			return v, refusal, nil
		}
		known = false
	}
}

// fewTries is how often a request that is outrun is made anew at once; longestOutrun is the longest pause then.
const (
	fewTries      = 3
	longestOutrun = 50 * time.Millisecond
)

// pauseOutrun pauses before a request is made anew that others were quicker than, so that not all come at once. It
// reports false when ctx has ended.
func (a *attempt) pauseOutrun(ctx context.Context, try int) bool {
	if try <= fewTries {
		return true
	}
	most := min(time.Millisecond<<min(try-fewTries, 10), longestOutrun)
	return sleep.For(ctx, rand.N(most))
}

// whoRefuses says who is in the way, or why nothing can be had at all.
func (a *attempt) whoRefuses(v *view) (*driver.HeldError, error) {
	wanted := a.req.Mode.Kind()
	if len(v.line) > 0 { // or waits: it has the lock as soon as nobody else has it
		return nil, &driver.KindError{Found: driver.Mutex, Wanted: wanted}
	}
	if err := v.others.checkKind(wanted); err != nil {
		return nil, err
	}
	if err := v.others.checkOver(a.req); err != nil {
		return nil, err
	}
	return v.others.refusalOf(a.req), nil
}

// askUnread asks in one step, unless it depends on what there is.
func (a *attempt) askUnread(ctx context.Context) (*view, error) {
	if a.req.Over != "" {
		return a.readFolder(ctx)
	}
	return a.takeIf(ctx, a.ifNothingIs(), &view{})
}

// takePart has the lock if nothing has changed that would be in the way; else it reads the folder anew.
func (a *attempt) takePart(ctx context.Context, v *view) (*view, error) {
	return a.takeIf(ctx, a.ifNothingCame(v), v)
}

// takeIf makes the key of who has the lock, and removes that of who waits.
func (a *attempt) takeIf(ctx context.Context, holds []clientv3.Cmp, before *view) (*view, error) {
	r := a.recordIn(held)
	take := []clientv3.Op{clientv3.OpPut(a.entry.grantKey, a.b.layout.encode(&r), clientv3.WithLease(a.lease.id))}
	if a.placeKey != "" {
		take = append(take, clientv3.OpDelete(a.placeKey))
	}
	resp, err := a.b.client.Txn(clientv3.WithRequireLeader(ctx)).
		If(holds...).Then(take...).Else(a.b.getLine(a.folder, 0)).Commit()
	if err != nil {
		return nil, err
	}
	if !resp.Succeeded {
		return a.viewOf(resp, 0)
	}
	v := &view{revision: resp.Header.Revision, term: resp.Header.RaftTerm, line: before.line}
	v.others = append(slices.Clone(before.others), *a.madeKey(v.revision))
	return v, nil
}

// takePlace makes the key of who waits, which lives for as long as it is asked for again.
func (a *attempt) takePlace(ctx context.Context, v *view) (*view, error) {
	by, err := a.leaseOfPlace(ctx)
	if err != nil {
		return nil, err
	}
	a.b.grants.setLease(a.entry, by)
	a.isNew = false // from now on there may be something of its owner
	r := a.recordIn(v.others.turnOf(a.req))
	put := clientv3.OpPut(a.placeKey, a.b.layout.encode(&r), clientv3.WithLease(by.id))
	absent := clientv3.Compare(clientv3.CreateRevision(a.placeKey), "=", 0)
	resp, err := a.b.client.Txn(clientv3.WithRequireLeader(ctx)).
		Then(clientv3.OpTxn([]clientv3.Cmp{absent}, []clientv3.Op{put}, nil), a.b.getLine(a.folder, 0)).Commit()
	if err != nil {
		by.enterError(err)
		return nil, err
	}
	after, err := a.viewOf(resp, 1)
	if err == nil {
		a.enterPlace(after.others.placeOf(a.req.Owner))
	}
	return after, err
}

// endPlace has a place deleted at once, if there may be one: who is refused for good does not give it back.
func (a *attempt) endPlace() {
	if !a.isNew {
		a.b.grants.prolong(a.entry, bootclock.Now())
	}
}

// enterPlace has a place end when it is not asked for again.
func (a *attempt) enterPlace(place *contender) {
	if place != nil {
		a.b.grants.enterQueue(a.entry, place, a.sent+a.claimTime())
	}
}

// readFolder reads who has the lock, and who waits.
func (a *attempt) readFolder(ctx context.Context) (*view, error) {
	resp, err := a.b.client.Txn(clientv3.WithRequireLeader(ctx)).Then(a.b.getLine(a.folder, 0)).Commit()
	if err != nil {
		return nil, err
	}
	return a.viewOf(resp, 0)
}

// viewOf reads the folder from one of the answers of a transaction.
func (a *attempt) viewOf(resp *clientv3.TxnResponse, at int) (*view, error) {
	if len(resp.Responses) <= at || resp.Responses[at].GetResponseRange() == nil {
		return nil, fmt.Errorf("%w: the answer is not that of the request", driver.ErrRefused)
	}
	v := &view{revision: resp.Header.Revision, term: resp.Header.RaftTerm}
	v.line, v.others = a.b.layout.readLine(a.folder, resp.Responses[at].GetResponseRange().Kvs)
	v.findOwn(a.entry.key)
	return v, nil
}

// recordIn is what is stored at a key of who asks.
func (a *attempt) recordIn(s state) record {
	r := record{state: s, word: wordOf(a.req), ttl: a.req.TTL, since: time.Now(), meta: a.req.Meta}
	if r.word == permits {
		r.count, r.limit = a.req.Permits, a.req.Limit
	}
	return r
}

// refusedInCrowd keeps the place of who waits, for as long as it is told.
func (a *attempt) refusedInCrowd(ctx context.Context, v *view, refusal *driver.HeldError) error {
	place := v.others.placeOf(a.req.Owner)
	if place == nil {
		return refusal
	}
	by, err := a.leaseOfPlace(ctx)
	if err == nil && place.lease != by.id {
		err = a.changeLeaseTo(ctx, place, by)
	}
	if err != nil {
		return &afterwardsError{err}
	}
	a.enterPlace(place)
	refusal.Again = a.claimTime()
	a.b.followLine(a.req.Name)
	return refusal
}

// knownView returns the copy of a line that is kept, if it changes with the store's.
func (b *backend) knownView(name string) (*view, bool) {
	l := b.followed(name)
	if l == nil {
		return nil, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.current {
		return nil, false
	}
	return &view{line: slices.Clone(l.keys), others: slices.Clone(l.others), revision: l.revision}, true
}
