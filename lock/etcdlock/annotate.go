package etcdlock

import (
	"cmp"
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Annotate implements [driver.Annotator].
func (b *backend) Annotate(ctx context.Context, g driver.Grant, meta string) error {
	err := driver.Refused(cmp.Or(driver.CheckOwner(g.Owner), driver.CheckMeta(meta)))
	if err == nil {
		err = b.rewriteRecord(ctx, &g, func(r *record) { r.meta = meta })
	}
	if err != nil {
		return describe("note beside", g.Name, err)
	}
	return nil
}

// Downgrade implements [driver.Downgrader]. The key stays what it is called; what counts is what is stored there.
func (b *backend) Downgrade(ctx context.Context, g driver.Grant) error {
	err := driver.Refused(driver.CheckDowngrade(&g))
	if err == nil {
		err = b.rewriteRecord(ctx, &g, func(r *record) { r.word = reads })
	}
	if err != nil {
		return describe("downgrade", g.Name, err)
	}
	return nil
}

// rewriteRecord changes what is stored at the key of a grant.
func (b *backend) rewriteRecord(ctx context.Context, g *driver.Grant, change func(*record)) error {
	if err := ctx.Err(); err != nil {
		return notSent(err)
	}
	a := &attempt{b: b, folder: b.layout.folder(g.Name), entry: &entry{grantKey: b.layout.grantKey(requestOf(g))}}
	for range mostTries {
		v, err := a.find(ctx)
		if err != nil {
			return err
		}
		if v.own == nil || v.own.state == waits { // who only waits has no grant
			return driver.ErrLost
		}
		r := v.own.record
		if change(&r); r == v.own.record || v.own.elects && b.layout.encode(&r) == v.own.meta {
			return nil
		}
		resp, err := b.commit(ctx, clientv3.Compare(clientv3.ModRevision(v.own.key), "=", v.own.modified),
			clientv3.OpPut(v.own.key, b.layout.encode(&r), clientv3.WithLease(v.own.lease)))
		if err != nil {
			return err
		}
		if resp.Succeeded {
			return nil
		}
	}
	return errOutrun
}
