package redislock

import (
	"context"
	"fmt"
	"slices"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// renewBatch is how many leases one script renews; while it runs the server
// does nothing else.
const renewBatch = 100

// Renew implements [driver.Backend]. The leases of one slot go in one script,
// and all scripts in one pipeline per server; each stands for itself.
func (b *backend) Renew(ctx context.Context, grants []driver.Grant) []error {
	errs := make([]error, len(grants))
	if err := ctx.Err(); err != nil {
		for i := range errs {
			errs[i] = notSent(err)
		}
		return errs
	}
	for i := range grants {
		if err := b.checkGrant(&grants[i]); err != nil {
			errs[i] = describe("renew", grants[i].Name, err)
		}
	}
	if alone := b.renewBatches(ctx, grants, b.batches(grants, errs), errs); len(alone) > 0 {
		b.renewBatches(ctx, grants, alone, errs)
	}
	return errs
}

// place is where the grants are that one script renews.
type place struct {
	slot int
	kind driver.Kind
}

// renewBatches makes a call for each batch, and returns the grants of those that
// one of them has spoiled, each a batch of its own.
func (b *backend) renewBatches(
	ctx context.Context, grants []driver.Grant, batches [][]int, errs []error,
) (alone [][]int) {
	publish := b.pubsub.command(b)
	calls := make([]redisconn.Call, len(batches))
	for i, batch := range batches {
		calls[i] = b.renewCall(grants, batch, publish)
	}
	for i, result := range b.conn.Pipeline(ctx, calls) {
		if len(batches[i]) > 1 && redisconn.KeyRefused(result.Err) {
			alone = slices.AppendSeq(alone, slices.Chunk(batches[i], 1))
			continue
		}
		b.renewed(grants, batches[i], result, errs)
	}
	return alone
}

// batches groups the indexes of grants without an error by slot and kind, renewBatch at most.
func (b *backend) batches(grants []driver.Grant, errs []error) [][]int {
	var batches [][]int
	open := make(map[place]int) // its batch with room left
	for i := range grants {
		if errs[i] != nil {
			continue
		}
		p := place{kind: grants[i].Mode.Kind()}
		if b.conn.Cluster() {
			p.slot = redisconn.Slot(grants[i].Name)
		}
		at, ok := open[p]
		if !ok || len(batches[at]) == renewBatch {
			at = len(batches)
			batches, open[p] = append(batches, nil), at
		}
		batches[at] = append(batches[at], i)
	}
	return batches
}

func (b *backend) renewCall(grants []driver.Grant, batch []int, publish string) redisconn.Call {
	if kind := grants[batch[0]].Mode.Kind(); kind != driver.Mutex {
		return b.renewCrowd(grants, batch, publish, kind)
	}
	call := redisconn.Call{
		Script: b.scripts.renew, Keys: make([]string, len(batch)), Args: make([]string, 0, 2+2*len(batch)),
	}
	call.Args = append(call.Args, publish, b.layout.channel)
	for i, at := range batch {
		call.Keys[i] = grants[at].Name
		call.Args = append(call.Args, grants[at].Owner, b.leaseText(grants[at].TTL))
	}
	return call
}

// renewed spreads the result of one script over its grants.
func (b *backend) renewed(grants []driver.Grant, batch []int, result redisconn.Result, errs []error) {
	for i, at := range batch {
		name := grants[at].Name
		switch {
		case result.Err != nil:
			errs[at] = describe("renew", name, result.Err)
		case i >= result.Reply.Len():
			errs[at] = fmt.Errorf("redislock: renew %q: the answer is %d long, not %d",
				name, result.Reply.Len(), len(batch))
		case result.Reply.At(i).Int != 1:
			errs[at] = fmt.Errorf("redislock: renew %q: %w", name, driver.ErrLost)
		}
	}
}
