package etcdlock

import (
	"context"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/bedrock-go/bedrock/internal/bootclock"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// A latch is a key in the folder of its name, by no lease. Beside it, but elsewhere, is what each call was told that
// has changed it, made by the same transaction: by that a call which is repeated is recognised.

const (
	// answersKept is for how long a repeated call is recognised.
	answersKept = time.Minute
	// answersMade is for how long answers are made by one lease, which is not prolonged.
	answersMade = time.Minute
	// latchPause is the longest pause before a change is tried again that another one has thwarted.
	latchPause = 5 * time.Millisecond
)

// latchView is what is in the folder of a latch, and what a call was told before.
type latchView struct {
	view

	latch    *contender
	answered bool
	answer   int
}

// countLeft returns what is left of the count, 0 if there is no latch.
func (v *latchView) countLeft() int {
	if v.latch == nil {
		return 0
	}
	return v.latch.count
}

// SetLatch implements [driver.Latches].
func (b *backend) SetLatch(ctx context.Context, name, id string, count int) (set bool, err error) {
	given, err := b.changeLatch(ctx, name, id, func(left int) (after, answer int, err error) {
		if left > 0 {
			return left, 0, nil
		}
		return count, count, nil
	})
	return given > 0, err
}

// CountDown implements [driver.Latches].
func (b *backend) CountDown(ctx context.Context, name, id string, by int) (left int, err error) {
	return b.changeLatch(ctx, name, id, func(left int) (after, answer int, err error) {
		if left < by {
			return 0, 0, &driver.CountError{Left: left, By: by}
		}
		return left - by, left - by, nil
	})
}

// LatchCount implements [driver.Latches].
func (b *backend) LatchCount(ctx context.Context, name string) (int, error) {
	v, err := b.readLatch(ctx, name, "")
	if err != nil {
		return 0, b.describeRead("read the latch", name, err)
	}
	return v.countLeft(), nil
}

// DropLatch implements [driver.Latches].
func (b *backend) DropLatch(ctx context.Context, name string) (dropped bool, err error) {
	had, err := b.changeLatch(ctx, name, "", func(left int) (after, answer int, err error) { return 0, left, nil })
	return had > 0, err
}

// latchChange says what a latch is to have of which so much is left, and what the call is told.
type latchChange func(left int) (after, answer int, err error)

// changeLatch makes a change of a latch, unless a call of that ID has made it before: then it is told the same. Those
// of this client come one after the other.
func (b *backend) changeLatch(ctx context.Context, name, id string, change latchChange) (answer int, err error) {
	turn := b.latches.turnOf(name)
	if err := takeTurn(ctx, turn); err != nil {
		return 0, describe("change the latch", name, notSent(err))
	}
	defer func() { <-turn }()
	for {
		answer, done, err := b.changeLatchOnce(ctx, name, id, change)
		if err == nil && !done && !sleep.For(ctx, rand.N(latchPause)) {
			err = notSent(context.Cause(ctx))
		}
		switch {
		case err != nil:
			return 0, describe("change the latch", name, err)
		case done:
			return answer, nil
		}
	}
}

// changeLatchOnce tries to. It reports false if another call was quicker.
func (b *backend) changeLatchOnce(
	ctx context.Context, name, id string, change latchChange,
) (answer int, done bool, err error) {
	v, err := b.readLatch(ctx, name, id)
	if err != nil || v.answered {
		return v.answer, true, err
	}
	after, answer, err := change(v.countLeft())
	if err != nil || after == v.countLeft() && id == "" {
		return answer, true, err
	}
	done, err = b.writeLatch(ctx, name, id, &v, after, answer)
	return answer, done, err
}

// readLatch reads the count of a latch, and what a call was told.
func (b *backend) readLatch(ctx context.Context, name, id string) (v latchView, err error) {
	if b.layout.raw {
		return v, fmt.Errorf("%w: a %s", driver.ErrUnsupported, driver.Latch)
	}
	if err := ctx.Err(); err != nil {
		return v, notSent(err)
	}
	folder := b.layout.folder(name)
	ops := []clientv3.Op{b.getLine(folder, 0)}
	if id != "" {
		ops = append(ops, clientv3.OpGet(b.layout.answerKey(id)))
	}
	resp, err := b.client.Txn(clientv3.WithRequireLeader(ctx)).Then(ops...).Commit()
	if err != nil {
		return v, err
	}
	v.revision = resp.Header.Revision
	if id != "" {
		if v.readAnswer(resp.Responses[1].GetResponseRange().GetKvs()); v.answered {
			return v, nil
		}
	}
	v.line, v.others = b.layout.readLine(folder, resp.Responses[0].GetResponseRange().GetKvs())
	if at := v.others.find(b.layout.latchKey(name)); at >= 0 {
		v.latch = &v.others[at]
	}
	if len(v.line) > 0 {
		return v, &driver.KindError{Found: driver.Mutex, Wanted: driver.Latch}
	}
	return v, v.others.checkKind(driver.Latch)
}

// readAnswer reads what a call was told.
func (v *latchView) readAnswer(kvs []*mvccpb.KeyValue) {
	for _, kv := range kvs {
		if told, err := strconv.Atoi(string(kv.Value)); err == nil {
			v.answered, v.answer = true, told
		}
	}
}

// writeLatch gives a latch another count, and keeps what its call is told. It reports false if something has changed
// since that was read.
func (b *backend) writeLatch(
	ctx context.Context, name, id string, v *latchView, after, answer int,
) (done bool, err error) {
	holds, ops := b.setCount(name, v, after)
	if id != "" {
		by, err := b.latches.answersLease(ctx, b.leases)
		if err != nil {
			return false, notSent(err)
		}
		told := b.layout.answerKey(id)
		holds = append(holds, clientv3.Compare(clientv3.CreateRevision(told), "=", 0))
		ops = append(ops, clientv3.OpPut(told, strconv.Itoa(answer), clientv3.WithLease(by.id)))
	}
	resp, err := b.client.Txn(clientv3.WithRequireLeader(ctx)).If(holds...).Then(ops...).Commit()
	if isNoLease(err) { // another one is made the next time
		b.latches.dropLease(ctx)
		return false, nil
	}
	return err == nil && resp.Succeeded, err
}

// setCount returns how a latch is given another count, and on what condition.
func (b *backend) setCount(name string, v *latchView, after int) (holds []clientv3.Cmp, ops []clientv3.Op) {
	key, folder := b.layout.latchKey(name), b.layout.folder(name)
	if v.latch == nil { // nobody may have the name as another kind
		holds = append(holds,
			clientv3.Compare(clientv3.CreateRevision(folder), "<", v.revision+1).WithRange(folder+waitsRead))
	} else {
		holds = append(holds, clientv3.Compare(clientv3.ModRevision(key), "=", v.latch.modified))
	}
	switch after {
	case v.countLeft():
	case 0:
		ops = append(ops, clientv3.OpDelete(key))
	default:
		r := record{state: held, word: latch, since: time.Now(), count: after}
		ops = append(ops, clientv3.OpPut(key, b.layout.encode(&r)))
	}
	return holds, ops
}

// latches are what this client needs to change them.
type latches struct {
	turns [16]chan struct{} // by names: calls of one client need not thwart each other
	seed  maphash.Seed

	leaseTurn chan struct{}
	present   *lease // of what calls were told. It is not prolonged, so that answers end
	made      time.Duration
}

func newLatches() *latches {
	l := &latches{seed: maphash.MakeSeed(), leaseTurn: make(chan struct{}, 1)}
	for i := range l.turns {
		l.turns[i] = make(chan struct{}, 1)
	}
	return l
}

// turnOf returns where calls wait for each other that change a latch.
func (l *latches) turnOf(name string) chan struct{} {
	return l.turns[maphash.String(l.seed, name)%uint64(len(l.turns))]
}

// answersLease returns a lease by which an answer lives for long enough.
func (l *latches) answersLease(ctx context.Context, from *leases) (*lease, error) {
	if err := takeTurn(ctx, l.leaseTurn); err != nil {
		return nil, err
	}
	defer func() { <-l.leaseTurn }()
	now := bootclock.Now()
	if l.present != nil && now-l.made < answersMade {
		return l.present, nil
	}
	made, err := from.makeLease(ctx, leaseLength(answersKept+answersMade))
	if err != nil {
		return nil, err
	}
	l.present, l.made = made, now
	return made, nil
}

// dropLease forgets the lease: the store does not know it any more.
func (l *latches) dropLease(ctx context.Context) {
	if takeTurn(ctx, l.leaseTurn) == nil {
		l.present = nil
		<-l.leaseTurn
	}
}
