package etcdlock

import (
	"context"
	"fmt"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// ForceRelease implements [driver.Forcer]. It deletes the key of who has the lock, or the keys: the lock then is that
// of the next one in line, with a token that is higher than the whole block of the victim. A key without a lease stays,
// and the lock with it: it is data of somebody else, in the place of a lock.
func (b *backend) ForceRelease(ctx context.Context, name string) (bool, error) {
	for range mostTries {
		was, done, err := b.forceOnce(ctx, name)
		if err != nil {
			return false, describe("force the release of", name, err)
		}
		if done {
			return was, nil
		}
	}
	return false, describe("force the release of", name, errOutrun)
}

// forceOnce takes the lock away from who has it now. It reports whether somebody had it, and whether that is certain.
func (b *backend) forceOnce(ctx context.Context, name string) (was, done bool, err error) {
	folder := b.layout.folder(name)
	resp, err := b.client.Get(clientv3.WithRequireLeader(ctx), folder, clientv3.WithRange(endOf(folder)),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
	if err != nil {
		return false, false, err
	}
	line, others := b.layout.readLine(folder, resp.Kvs)
	if len(line) == 0 {
		return b.forceCrowd(ctx, folder, others)
	}
	first := &line[0]
	if first.state == waits {
		return false, true, nil
	}
	if first.lease == clientv3.NoLease {
		return false, true, errNoLock(first.key)
	}
	same := clientv3.Compare(clientv3.CreateRevision(first.key), "=", first.created)
	leased := clientv3.Compare(clientv3.LeaseValue(first.key), "!=", clientv3.NoLease)
	took, err := b.client.Txn(clientv3.WithRequireLeader(ctx)).
		If(same, leased).Then(clientv3.OpDelete(first.key)).Commit()
	if err != nil {
		return false, false, err
	}
	return took.Succeeded, took.Succeeded, nil
}

// errNoLock refuses to delete what is in the way of a lock, and is none: those that clients make end with a lease.
func errNoLock(key string) error {
	return fmt.Errorf("%w: what is in its way is the key %s, which has no lease, so it is no client's lock: "+
		"delete it by hand if nobody needs it", driver.ErrRefused, shownKey(key))
}

// forceCrowd takes a lock away from all who have it at once.
func (b *backend) forceCrowd(ctx context.Context, folder string, others crowd) (was, done bool, err error) {
	holders := others.admitted()
	switch {
	case len(holders) == 0:
		return false, true, nil
	case holders[0].word == latch:
		return false, true, &driver.KindError{Found: driver.Latch, Wanted: driver.Mutex}
	}
	for _, c := range holders {
		if c.lease == clientv3.NoLease {
			return false, true, errNoLock(c.key)
		}
	}
	all := spansOf(folder, holders)
	leased, remove := make([]clientv3.Cmp, len(all)), make([]clientv3.Op, len(all))
	for i, s := range all { // whoever has come since goes, too
		leased[i] = clientv3.Compare(clientv3.LeaseValue(s.from), "!=", clientv3.NoLease).WithRange(s.to)
		remove[i] = clientv3.OpDelete(s.from, clientv3.WithRange(s.to))
	}
	took, err := b.client.Txn(clientv3.WithRequireLeader(ctx)).If(leased...).Then(remove...).Commit()
	if err != nil {
		return false, false, err
	}
	return took.Succeeded, took.Succeeded, nil
}

// spansOf returns where the keys of holders are, and no others.
func spansOf(folder string, holders []*contender) (all []span) {
	for _, begins := range []string{hasPermits, hasRead, hasUpgrades, hasWrite} {
		s := span{folder + begins, endOf(folder + begins)}
		if slices.ContainsFunc(holders, func(c *contender) bool { return strings.HasPrefix(c.key, s.from) }) {
			all = append(all, s)
		}
	}
	return all
}
