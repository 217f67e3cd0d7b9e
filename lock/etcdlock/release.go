package etcdlock

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Release implements [driver.Backend]. It deletes the owner's key, whatever that stands for: the lock then is that of
// the next one in line, so nobody waits for it to be free.
func (b *backend) Release(ctx context.Context, g driver.Grant) (waiting int, err error) {
	if err := driver.Refused(driver.CheckOwner(g.Owner)); err != nil {
		return 0, describe("release", g.Name, err)
	}
	if err := ctx.Err(); err != nil {
		return 0, describe("release", g.Name, notSent(err))
	}
	if isCrowd(g.Mode) {
		return 0, b.leaveCrowd(ctx, &g)
	}
	key := b.layout.key(g.Name, g.Owner)
	e, again := b.grants.beginRelease(key)
	resp, err := b.client.Delete(clientv3.WithRequireLeader(ctx), key, clientv3.WithPrevKV())
	if err != nil {
		return 0, describe("release", g.Name, err)
	}
	if !b.grants.endRelease(key, resp.Deleted > 0, again, e == nil && hadLock(resp)) {
		return 0, describe("release", g.Name, driver.ErrLost)
	}
	return 0, nil
}

// hadLock reports whether the key was that of a grant, as far as it tells: not of who only waited.
func hadLock(resp *clientv3.DeleteResponse) bool {
	for _, kv := range resp.PrevKvs {
		if r, _ := readRecord(string(kv.Value)); r.state == waits {
			return false
		}
	}
	return len(resp.PrevKvs) > 0
}

// endEntry deletes the keys of an entry whose time is over, unless they are not there any more.
func (b *backend) endEntry(ctx context.Context, e *entry) error {
	keys := []string{e.grantKey}
	if place := b.layout.placeKey(&e.req); place != "" {
		keys = append(keys, place)
	}
	for _, key := range keys {
		if err := b.endKey(ctx, e, key); err != nil {
			return fmt.Errorf("etcdlock: end %q: %w", e.name, err)
		}
	}
	return nil
}

// endKey deletes a key of an entry, if it is kept by a lease of this client. A grant that is renewed through another
// one is kept by that one's lease, and goes on.
func (b *backend) endKey(ctx context.Context, e *entry, key string) error {
	by, created := b.grants.keptBy(e)
	for range mostTries {
		holds := []clientv3.Cmp{clientv3.Compare(clientv3.LeaseValue(key), "=", by)}
		if created > 0 && !isCrowd(e.req.Mode) {
			holds = append(holds, clientv3.Compare(clientv3.CreateRevision(key), "=", created))
		}
		resp, err := b.client.Txn(clientv3.WithRequireLeader(ctx)).
			If(holds...).Then(clientv3.OpDelete(key)).Else(clientv3.OpGet(key)).Commit()
		if err != nil || resp.Succeeded {
			return err
		}
		kvs := resp.Responses[0].GetResponseRange().GetKvs()
		if len(kvs) == 0 {
			return nil
		}
		now := clientv3.LeaseID(kvs[0].Lease)
		if now == by || !b.leases.isInUse(now) {
			return nil
		}
		by = now // the answer of who has changed it was lost
	}
	return errOutrun
}

// leaveCrowd deletes the owner's keys of a lock that several may have at once.
func (b *backend) leaveCrowd(ctx context.Context, g *driver.Grant) error {
	key := b.layout.key(g.Name, g.Owner)
	_, again := b.grants.beginRelease(key)
	had, err := b.deleteOfCrowd(ctx, requestOf(g))
	if err != nil {
		return describe("release", g.Name, err)
	}
	if !b.grants.endRelease(key, had, again, had) {
		return describe("release", g.Name, driver.ErrLost)
	}
	return nil
}

// deleteOfCrowd deletes the keys of an owner, and reports whether it had the lock by one of them.
func (b *backend) deleteOfCrowd(ctx context.Context, req *driver.Request) (had bool, err error) {
	ops := []clientv3.Op{clientv3.OpDelete(b.layout.grantKey(req))}
	if place := b.layout.placeKey(req); place != "" {
		ops = append(ops, clientv3.OpDelete(place))
	}
	resp, err := b.client.Txn(clientv3.WithRequireLeader(ctx)).Then(ops...).Commit()
	if err != nil {
		return false, err
	}
	return len(resp.Responses) > 0 && resp.Responses[0].GetResponseDeleteRange().GetDeleted() > 0, nil
}

// requestOf returns what was asked for that a grant is of.
func requestOf(g *driver.Grant) *driver.Request {
	return &driver.Request{
		Name: g.Name, Owner: g.Owner, Mode: g.Mode, Permits: g.Permits, Upgradeable: g.Upgradeable, TTL: g.TTL,
		Tokens: g.Tokens,
	}
}
