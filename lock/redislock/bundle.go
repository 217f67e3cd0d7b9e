package redislock

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// Together implements [driver.Bundler]. In a cluster the names must be in one slot, such as all with one hash tag.
func (b *backend) Together(names []string) bool {
	if len(names) < 1 || len(names) > driver.MaxBundle {
		return false
	}
	for _, name := range names {
		if checkName(name, b.conn.Cluster()) != nil || b.conn.Cluster() && !redisconn.SameSlot(names[0], name) {
			return false
		}
	}
	return true
}

// AcquireAll implements [driver.Bundler]: one script looks at all locks, and then takes them.
func (b *backend) AcquireAll(ctx context.Context, reqs []driver.Request) ([]driver.Grant, error) {
	if err := b.checkBundle(reqs); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, notSent(err)
	}
	all := make(bundle, len(reqs))
	for i := range reqs {
		all[i] = b.newHandle(reqs[i].Name, reqs[i].Owner)
		all[i].last[2] = b.latchLife(reqs[i].TTL)
	}
	reply, err := b.evalBundle(ctx, all, b.bundleCall(all, reqs))
	if err != nil {
		return nil, describe("acquire", reqs[0].Name, err)
	}
	for i := range reqs {
		b.inbox.attend(reqs[i].Owner)
	}
	b.checkOnce()
	return b.readBundle(all, reqs, reply)
}

// bundle is the handles of several locks that are had in one step.
type bundle []*handle

// checkBundle refuses what cannot be had in one step.
func (b *backend) checkBundle(reqs []driver.Request) error {
	if err := driver.CheckBundle(reqs); err != nil {
		return fmt.Errorf("redislock: acquire: %w", driver.Refused(err))
	}
	for i := range reqs {
		if err := b.checkRequest(&reqs[i]); err != nil {
			return err
		}
		if b.conn.Cluster() && !redisconn.SameSlot(reqs[0].Name, reqs[i].Name) {
			err := input.Errorf("requests", "are of names in several slots: %q and %q", reqs[0].Name, reqs[i].Name)
			return fmt.Errorf("redislock: acquire: %w", driver.Refused(err))
		}
	}
	return nil
}

// bundleCall returns what bundle.lua needs.
func (b *backend) bundleCall(all bundle, reqs []driver.Request) redisconn.Call {
	call := redisconn.Call{
		Script: b.scripts.bundle, Keys: make([]string, 0, 2*len(reqs)), Args: make([]string, 1, 1+4*len(reqs)),
	}
	call.Args[0] = b.tokenTTL
	for i := range reqs {
		req := &reqs[i]
		call.Keys = append(call.Keys, all[i].keys.name, all[i].keys.token)
		call.Args = append(call.Args, b.leaseText(req.TTL), req.Owner, strconv.Itoa(max(req.Tokens, 1)), marked(req))
	}
	return call
}

// evalBundle asks for it, and waits for replicas if they are to have it: one master has all of the locks.
func (b *backend) evalBundle(ctx context.Context, all bundle, call redisconn.Call) (redisconn.Reply, error) {
	if b.opts.Acks == AcksNone {
		return b.conn.Eval(ctx, call.Script, call.Keys, call.Args)
	}
	return b.evalAcked(ctx, call, func(ctx context.Context) error { return b.releaseBundle(ctx, all) })
}

// releaseBundle gives all locks back in one pipeline, whatever becomes of each.
func (b *backend) releaseBundle(ctx context.Context, all bundle) error {
	calls := make([]redisconn.Call, len(all))
	for i, h := range all {
		args := b.releaseArgs(h)
		args[0] = b.pubsub.command(b)
		calls[i] = redisconn.Call{Script: b.scripts.release, Keys: h.release[:], Args: args[:]}
	}
	var errs []error
	for _, result := range b.conn.Pipeline(ctx, calls) {
		errs = append(errs, result.Err)
	}
	return errors.Join(errs...)
}

// readBundle reads the answer of bundle.lua.
func (b *backend) readBundle(all bundle, reqs []driver.Request, answer redisconn.Reply) ([]driver.Grant, error) {
	if answer.At(0).Int == crowdGranted {
		return readGrants(all, reqs, answer)
	}
	at := int(answer.At(1).Int) - 1
	if at < 0 || at >= len(reqs) {
		return nil, fmt.Errorf("redislock: acquire: the answer is about lock %d of %d", at+1, len(reqs))
	}
	name := reqs[at].Name
	if answer.At(0).Int == otherKind {
		found := driver.Kind(answer.At(2).Int)
		return nil, describe("acquire", name, &driver.KindError{Found: found, Wanted: driver.Mutex})
	}
	held := b.heldError(answer, 2)
	held.Name = name
	return nil, held
}

func readGrants(all bundle, reqs []driver.Request, answer redisconn.Reply) ([]driver.Grant, error) {
	if answer.Len() != 1+2*len(reqs) {
		return nil, fmt.Errorf("redislock: acquire: the answer is %d long, not %d", answer.Len(), 1+2*len(reqs))
	}
	grants := make([]driver.Grant, len(reqs))
	for i := range reqs {
		grants[i] = reqs[i].Ungranted()
		grants[i].Token, grants[i].Handle = uint64(answer.At(1+2*i).Int), all[i]
		grants[i].Tokens = int(answer.At(2 + 2*i).Int)
	}
	return grants, nil
}
