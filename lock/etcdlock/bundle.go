package etcdlock

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Together implements [driver.Bundler]: a cluster is one store.
func (b *backend) Together(names []string) bool { return len(names) <= driver.MaxBundle }

// AcquireAll implements [driver.Bundler]. It is one transaction if all locks are free; who is refused has no place in
// any line.
func (b *backend) AcquireAll(ctx context.Context, reqs []driver.Request) ([]driver.Grant, error) {
	err := driver.Refused(driver.CheckBundle(reqs))
	for i := range reqs {
		if err == nil {
			err = b.check(ctx, &reqs[i])
		}
	}
	if err != nil {
		return nil, describe("acquire", bundleName(reqs), err)
	}
	grants, err := b.attemptAll(ctx, reqs)
	if isNoLease(err) { // nothing was done, and other leases are made now
		grants, err = b.attemptAll(ctx, reqs)
	}
	if refusal, ok := err.(*driver.HeldError); ok { //nolint:errorlint // made here, and not wrapped
		return nil, refusal
	}
	if err != nil {
		return nil, describe("acquire", bundleName(reqs), err)
	}
	return grants, nil
}

// bundleName is what an error calls several locks by.
func bundleName(reqs []driver.Request) string {
	if len(reqs) == 0 {
		return ""
	}
	return reqs[0].Name
}

// bundle is a request for several locks in one step.
type bundle struct {
	b   *backend
	all []*attempt
}

// attemptAll asks once, with leases that the store is believed to have.
func (b *backend) attemptAll(ctx context.Context, reqs []driver.Request) (grants []driver.Grant, err error) {
	w := bundle{b: b}
	defer func() {
		for _, a := range w.all {
			if err != nil {
				a.leaveNothing(err)
			}
			a.lease.enterError(err)
		}
	}()
	for i := range reqs {
		a, err := b.newAttempt(ctx, &reqs[i], "")
		if err != nil {
			return nil, notSent(err)
		}
		w.all = append(w.all, a)
	}
	views, err := w.askUntilHad(ctx)
	if err != nil {
		return nil, err
	}
	for i, a := range w.all {
		g, err := a.keepKey(ctx, views[i])
		if err != nil {
			return nil, &afterwardsError{err}
		}
		grants = append(grants, g)
	}
	return grants, nil
}

// askUntilHad asks until all locks are the owners', or one is somebody else's.
func (w *bundle) askUntilHad(ctx context.Context) ([]*view, error) {
	var views []*view // none yet: all must be free
	for range mostTries {
		after, had, err := w.commitAll(ctx, views)
		if err != nil {
			return nil, err
		}
		if had {
			return after, nil
		}
		if err := w.firstHeld(after); err != nil {
			return nil, err
		}
		views = after
	}
	return nil, errOutrun
}

// firstHeld returns why the first of those cannot be had that somebody else has.
func (w *bundle) firstHeld(views []*view) error {
	for _, v := range views {
		if err := v.others.checkKind(driver.Mutex); err != nil && v.isFree() {
			return err
		}
	}
	for i, v := range views {
		if first := v.line; len(first) > 0 && !v.isOurs() {
			return &driver.HeldError{
				Name: w.all[i].req.Name, Owner: first[0].owner, TTL: first[0].life(), Waits: first[0].state == waits,
			}
		}
	}
	return nil
}

// commitAll makes the keys of all locks if none has changed since it was seen, or if nobody has one; else it reads who
// has them.
func (w *bundle) commitAll(ctx context.Context, before []*view) (after []*view, had bool, err error) {
	var holds []clientv3.Cmp
	var then, otherwise []clientv3.Op
	for i, a := range w.all {
		otherwise = append(otherwise, w.b.getLine(a.folder, 0))
		in := clientv3.Compare(clientv3.CreateRevision(a.folder), "=", 0)
		if before != nil {
			in = clientv3.Compare(clientv3.CreateRevision(a.folder), "<", before[i].revision+1)
		}
		holds = append(holds, in.WithRange(endOf(a.folder)))
		if before != nil && before[i].own != nil {
			holds = append(holds, clientv3.Compare(clientv3.CreateRevision(a.entry.key), "=", before[i].own.created))
			continue
		}
		then = append(then, a.putOwn(held, a.lease))
	}
	resp, err := w.b.client.Txn(clientv3.WithRequireLeader(ctx)).If(holds...).Then(then...).Else(otherwise...).Commit()
	if err != nil {
		return nil, false, err
	}
	for i, a := range w.all {
		var v *view
		if resp.Succeeded {
			v = a.viewAfter(resp, before, i)
		} else if v, err = a.viewOf(resp, i); err != nil {
			return nil, false, err
		}
		after = append(after, v)
	}
	return after, resp.Succeeded, nil
}

// viewAfter is what a folder is like when the own key was made, or was there already.
func (a *attempt) viewAfter(resp *clientv3.TxnResponse, before []*view, at int) *view {
	v := &view{revision: resp.Header.Revision, term: resp.Header.RaftTerm}
	if before != nil && before[at].own != nil {
		v.own, v.line = before[at].own, before[at].line
		return v
	}
	v.own = a.madeKey(v.revision)
	v.line = []contender{*v.own}
	return v
}
