package redislock

import (
	"context"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// crowdHandle is the keys and texts of one owner's grant of a name that several may have at once.
type crowdHandle interface {
	// acquiring returns what a request for it needs.
	acquiring(b *backend, req *driver.Request) redisconn.Call
	// releasing returns what a release needs.
	releasing(b *backend, publish string) redisconn.Call
	// annotating returns what it needs to replace the metadata.
	annotating(b *backend, meta string) redisconn.Call
	// renewing adds what a renewal needs.
	renewing(b *backend, call *redisconn.Call, ttl time.Duration)
}

// A semaphore that Bedrock has made is remembered for a day after its last use: Java's, which look for it, find it.
// That nobody else has made it is told by a field beside its holders, bedrock:limit.

// crowdLatch is the life of the latch of a release, in ms.
const crowdLatch = "10000"

// crowdOf returns the handle of a grant.
func (b *backend) crowdOf(g *driver.Grant) crowdHandle {
	if g.Mode == driver.Permit {
		return &permits{
			name: g.Name, owner: g.Owner, count: g.Permits, ids: idsOf(g.Owner),
			taken: takenOf(g.Name, b.opts.Semaphores),
		}
	}
	return &readWrite{name: g.Name, owner: g.Owner, how: howWord(g)}
}

// acquireCrowd takes a grant of a name that several may have at once.
func (b *backend) acquireCrowd(ctx context.Context, req *driver.Request) (driver.Grant, error) {
	if err := b.checkRequest(req); err != nil {
		return driver.Grant{}, err
	}
	if err := ctx.Err(); err != nil {
		return driver.Grant{}, notSent(err)
	}
	g := req.Ungranted()
	h := b.crowdOf(&g)
	answer, err := b.evalCrowd(ctx, h, h.acquiring(b, req))
	if err != nil {
		return driver.Grant{}, describe("acquire", req.Name, err)
	}
	b.inbox.attend(req.Owner)
	b.checkOnce()
	return readCrowd(req, answer)
}

// evalCrowd asks for it, and waits for replicas if they are to have it.
func (b *backend) evalCrowd(ctx context.Context, h crowdHandle, call redisconn.Call) (redisconn.Reply, error) {
	if b.opts.Acks == AcksNone {
		return b.conn.Eval(ctx, call.Script, call.Keys, call.Args)
	}
	return b.evalAcked(ctx, call, func(ctx context.Context) error {
		_, err := b.releaseCrowd(ctx, h)
		return err
	})
}

// What the scripts answer first.
const (
	crowdHeld = iota
	crowdGranted
	crowdOtherKind
	crowdNothingToGoOver
)

// readCrowd reads the answer to a request.
func readCrowd(req *driver.Request, answer redisconn.Reply) (driver.Grant, error) {
	switch answer.At(0).Int {
	case crowdGranted:
		g := req.Ungranted()
		g.Token, g.Tokens = uint64(answer.At(1).Int), int(answer.At(2).Int)
		return g, nil
	case crowdHeld:
		return driver.Grant{}, readRefusal(answer)
	case crowdOtherKind:
		found := driver.Kind(answer.At(1).Int)
		return driver.Grant{}, describe("acquire", req.Name, &driver.KindError{Found: found, Wanted: req.Mode.Kind()})
	default:
		return driver.Grant{}, describe("acquire", req.Name, driver.ErrBelow)
	}
}

func readRefusal(answer redisconn.Reply) *driver.HeldError {
	e := &driver.HeldError{TTL: holdersTTL(answer.At(1).Int)}
	if answer.Len() > 2 {
		e.Owner, e.Waits = answer.At(2).Str, answer.At(3).Int == 1
		e.Again = time.Duration(answer.At(4).Int) * time.Millisecond
	}
	return e
}

// releaseCrowd gives a grant back.
func (b *backend) releaseCrowd(ctx context.Context, h crowdHandle) (redisconn.Reply, error) {
	call := h.releasing(b, b.pubsub.command(b))
	return redisconn.Repeat(ctx, func() (redisconn.Reply, error) {
		return b.conn.Eval(ctx, call.Script, call.Keys, call.Args)
	})
}

// releaseGrant is Release for such a grant.
func (b *backend) releaseGrant(ctx context.Context, g *driver.Grant) (int, error) {
	reply, err := b.releaseCrowd(ctx, b.crowdOf(g))
	if err != nil {
		return 0, describe("release", g.Name, err)
	}
	if reply.Int < 0 {
		return 0, fmt.Errorf("redislock: release %q: %w", g.Name, driver.ErrLost)
	}
	return max(int(reply.Int)-b.hub.listening(b.layout.channelOf(g.Name, g.Mode.Kind())), 0), nil
}

// renewCrowd returns the call that renews grants of one kind.
func (b *backend) renewCrowd(grants []driver.Grant, batch []int, publish string, kind driver.Kind) redisconn.Call {
	call := redisconn.Call{Script: b.scripts.rw.renew, Args: []string{publish, rwChannel}}
	if kind == driver.Semaphore {
		call = redisconn.Call{Script: b.scripts.permit.renew, Args: []string{publish, permitChannel, semaphoreLife}}
	}
	for _, at := range batch {
		b.crowdOf(&grants[at]).renewing(b, &call, grants[at].TTL)
	}
	return call
}
