package etcdlock

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// view is what an answer says of a lock.
type view struct {
	line     []contender // the first of those who have it or wait, or all of them; in order
	others   crowd       // what is there but for mutexes, as far as it was read
	own      *contender  // the key of who has asked, nil if there is none
	revision int64
	term     uint64
}

// isFree reports whether nobody has the lock, and it was not given for what is of other locks.
func (v *view) isFree() bool { return len(v.line) == 0 }

// isOurs reports whether the first key is that of who has asked.
func (v *view) isOurs() bool { return v.own != nil && v.line[0].key == v.own.key }

// placeOf returns where a key is in line, as far as that is known; -1 if it is not there.
func (v *view) placeOf(key string) int {
	if v.own == nil {
		return -1
	}
	for i := range v.line {
		if v.line[i].key == key {
			return i
		}
	}
	return len(v.line)
}

// commit makes a transaction: what is done if something holds, and else. It is sent to a server that has a leader:
// one that has none would wait for it.
func (b *backend) commit(
	ctx context.Context, holds clientv3.Cmp, then clientv3.Op, otherwise ...clientv3.Op,
) (*clientv3.TxnResponse, error) {
	return b.client.Txn(clientv3.WithRequireLeader(ctx)).If(holds).Then(then).Else(otherwise...).Commit()
}

// askForFree asks for the lock in one step: nobody has a key in its folder, and one is made; or who has is told, and
// who queues has a key from then on.
func (a *attempt) askForFree(ctx context.Context) (*view, error) {
	nobody := clientv3.Compare(clientv3.CreateRevision(a.folder), "=", 0).WithRange(endOf(a.folder))
	return a.commit(ctx, nobody)
}

// askAfter asks for a lock of which nobody had a key at a revision: what is in its folder is of locks whose names go
// on behind a slash. Nothing may have been made there since.
func (a *attempt) askAfter(ctx context.Context, revision int64) (*view, error) {
	nobody := clientv3.Compare(clientv3.CreateRevision(a.folder), "<", revision+1).WithRange(endOf(a.folder))
	return a.commit(ctx, nobody)
}

// commit asks on a condition, and reads the answer.
func (a *attempt) commit(ctx context.Context, nobody clientv3.Cmp) (*view, error) {
	resp, err := a.b.commit(ctx, nobody, a.putOwn(held, a.lease), a.otherwise()...)
	if err != nil {
		return nil, err
	}
	v := &view{revision: resp.Header.Revision, term: resp.Header.RaftTerm}
	if resp.Succeeded {
		v.own = a.madeKey(v.revision)
		v.line = []contender{*v.own}
		return v, nil
	}
	return v, a.read(ctx, v, resp.Responses)
}

// madeKey is the own key that was made at a revision.
func (a *attempt) madeKey(revision int64) *contender {
	return &contender{
		record: a.recordIn(held), key: a.entry.grantKey, owner: a.req.Owner, own: true, crowd: isCrowd(a.req.Mode),
		created: revision, modified: revision, lease: a.lease.id,
	}
}

// putOwn makes the own key, which is kept by a lease.
func (a *attempt) putOwn(s state, by *lease) clientv3.Op {
	r := a.recordIn(s)
	return clientv3.OpPut(a.entry.key, a.b.layout.encode(&r), clientv3.WithLease(by.id))
}

// otherwise is what is done if somebody has the lock.
func (a *attempt) otherwise() []clientv3.Op {
	var limit int64
	if !a.req.Fair { // else its place is told
		limit = fewContenders
	}
	ops := []clientv3.Op{a.b.getLine(a.folder, limit), clientv3.OpGet(a.entry.key)}
	if a.queues == "" {
		return ops
	}
	may := []clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(a.entry.key), "=", 0)}
	if !a.b.layout.raw { // who stands would have the lock beside those who have it as one of another kind
		may = append(may, noHolders(a.folder))
	}
	return append([]clientv3.Op{clientv3.OpTxn(may, []clientv3.Op{a.putOwn(a.queues, a.placeLease)}, nil)}, ops...)
}

// fewContenders is how many keys of a lock are read: the first, and some that may be other locks'.
const fewContenders = 3

// getLine reads those who have a lock or wait for it, in order, at most limit of them; 0 is all.
func (b *backend) getLine(folder string, limit int64) clientv3.Op {
	return clientv3.OpGet(folder, clientv3.WithRange(endOf(folder)), clientv3.WithLimit(limit),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
}

// read reads who has the lock.
func (a *attempt) read(ctx context.Context, v *view, answers []*etcdserverpb.ResponseOp) error {
	if a.queues != "" {
		answers = answers[1:]
	}
	line, own := answers[0].GetResponseRange(), answers[1].GetResponseRange()
	if line == nil || own == nil {
		return fmt.Errorf("%w: the answer is not that of the request", driver.ErrRefused)
	}
	v.line, v.others = a.b.layout.readLine(a.folder, line.Kvs)
	if len(own.Kvs) > 0 {
		if c, ok := a.b.layout.readContender(a.folder, own.Kvs[0]); ok {
			v.own = &c
		}
	}
	if len(v.line) == 0 && line.More { // what has come are other locks' keys, or of those who wait for another kind
		if err := a.readAll(ctx, v); err != nil {
			return &afterwardsError{err} // the own key may have been made
		}
	}
	if len(v.line) > 0 {
		return nil
	}
	return v.others.checkKind(driver.Mutex)
}

// readAll reads the whole line anew. What it was like at the revision of a view may be compacted by now.
func (a *attempt) readAll(ctx context.Context, v *view) error {
	resp, err := a.b.client.Get(clientv3.WithRequireLeader(ctx), a.folder, clientv3.WithRange(endOf(a.folder)),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
	if err != nil {
		return err
	}
	*v = view{revision: resp.Header.Revision, term: resp.Header.RaftTerm}
	v.line, v.others = a.b.layout.readLine(a.folder, resp.Kvs)
	v.findOwn(a.entry.key)
	return nil
}

// findOwn looks for the own key in the line.
func (v *view) findOwn(key string) {
	for i := range v.line {
		if v.line[i].key == key {
			v.own = &v.line[i]
		}
	}
}
