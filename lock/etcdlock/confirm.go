package etcdlock

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// A lease is prolonged by the leader alone, without the consent of the others, and one that was stopped for a while,
// or cut off, goes on as the leader until it hears of the next one: what it prolongs then is not prolonged. It has
// the term of its own time. So a lease counts only if the answer of a request that was made afterwards, and that
// needs the consent of most servers, is of the same term: then it was the leader when it has prolonged the lease, and
// every later one prolongs all leases when it begins.

// confirm sees to it that the own key is kept by a lease that lives for long enough, if there is one.
func (a *attempt) confirm(ctx context.Context, v *view, by *lease) error {
	if v.own == nil {
		return nil
	}
	if v.own.lease != by.id {
		if err := a.changeLeaseTo(ctx, v.own, by); err != nil {
			return err
		}
	}
	term := v.term
	for try := 0; !by.isOfTerm(term); try++ {
		if try == mostConfirmed {
			return errAnotherLeader
		}
		if err := a.b.leases.prolong(ctx, by); err != nil {
			return err
		}
		resp, err := a.b.client.Get(clientv3.WithRequireLeader(ctx), v.own.key, clientv3.WithKeysOnly())
		if err != nil {
			return err
		}
		if len(resp.Kvs) == 0 || resp.Kvs[0].CreateRevision != v.own.created {
			return errBehind // it is gone already
		}
		term = resp.Header.RaftTerm
	}
	a.b.grants.setLease(a.entry, by)
	return nil
}

// mostConfirmed is how often it is tried to prolong a lease while leaders change.
const mostConfirmed = 3

// changeLeaseTo has an own key kept by the lease that lives for long enough.
func (a *attempt) changeLeaseTo(ctx context.Context, own *contender, by *lease) error {
	resp, err := a.b.commit(ctx, clientv3.Compare(clientv3.CreateRevision(own.key), "=", own.created),
		clientv3.OpPut(own.key, "", clientv3.WithIgnoreValue(), clientv3.WithLease(by.id)))
	switch {
	case err != nil: // it may come to the store yet, when nobody ends the key any more
		by.enterError(err)
		return err
	case !resp.Succeeded:
		return errBehind
	}
	own.lease, own.modified = by.id, resp.Header.Revision
	return nil
}
