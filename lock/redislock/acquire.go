package redislock

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// handle is what a grant carries about: the keys and texts of its release, made
// once. It is one piece of memory together with what the acquisition sends.
type handle struct {
	keys    keys
	call    [2]string // keys of the acquisition
	args    [6]string // the first is common to all of a batch
	release [3]string // keys of the release
	last    [4]string // its arguments; the first is common to all of a batch
	passed  *passing  // how the lock was passed on; nil if it was asked for
}

func (b *backend) newHandle(name, owner string) *handle {
	h := &handle{keys: b.layout.of(name, owner)}
	h.release = [...]string{h.keys.name, h.keys.channel, h.keys.latch}
	h.last = [...]string{"", owner, latchTTL, ""}
	return h
}

// Acquire implements [driver.Backend].
func (b *backend) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	if req.Mode != driver.Exclusive {
		return b.acquireCrowd(ctx, &req)
	}
	if req.Fair {
		return b.acquireFair(ctx, &req, false)
	}
	if req.IsVote() {
		return b.acquireVote(ctx, &req)
	}
	h := b.newHandle(req.Name, req.Owner)
	reply, err := b.request(ctx, h, &req, b.lingerWord(&req))
	if err != nil {
		return driver.Grant{}, err
	}
	return b.grant(h, &req, reply)
}

// request asks for a grant. How is for acquire.lua.
func (b *backend) request(ctx context.Context, h *handle, req *driver.Request, how string) (redisconn.Reply, error) {
	if err := b.checkRequest(req); err != nil {
		return redisconn.Reply{}, err
	}
	if err := ctx.Err(); err != nil {
		return redisconn.Reply{}, notSent(err)
	}
	lease := b.leaseText(req.TTL)
	h.call = [...]string{h.keys.name, h.keys.token}
	h.args = [...]string{b.tokenTTL, lease, req.Owner, strconv.Itoa(max(req.Tokens, 1)), marked(req), how}
	h.last[2] = b.latchLife(req.TTL)
	reply, err := b.evalAcquire(ctx, h)
	if err != nil {
		return redisconn.Reply{}, describe("acquire", req.Name, err)
	}
	b.inbox.attend(req.Owner)
	b.checkOnce()
	return reply, nil
}

func (b *backend) evalAcquire(ctx context.Context, h *handle) (redisconn.Reply, error) {
	switch {
	case b.opts.Acks != AcksNone:
		call := redisconn.Call{Script: b.scripts.acquire, Keys: h.call[:], Args: h.args[:]}
		return b.evalAcked(ctx, call, b.takingBack(h))
	case b.acquiring != nil:
		return b.acquiring.eval(ctx, h.call[:], h.args[1:])
	default:
		return b.conn.Eval(ctx, b.scripts.acquire, h.call[:], h.args[:])
	}
}

// takingBack returns how a grant is released that too few replicas have.
func (b *backend) takingBack(h *handle) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := b.evalRelease(ctx, h, b.pubsub.command(b))
		return err
	}
}

// marked returns the metadata to be stored. Where there is none, and the owner may
// be anything, it says that this hash is a lock, for whoever lists them.
func marked(req *driver.Request) string {
	if req.Meta == "" && !looksLikeOwner(req.Owner) {
		return "{}"
	}
	return req.Meta
}

// grant reads the script's answer: a number is the first token of a new grant.
func (b *backend) grant(h *handle, req *driver.Request, reply redisconn.Reply) (driver.Grant, error) {
	g := driver.Grant{
		Name: req.Name, Owner: req.Owner, Mode: req.Mode, TTL: req.TTL,
		Token: uint64(reply.Int), Tokens: max(req.Tokens, 1), Handle: h,
	}
	lingers := strings.HasPrefix(h.args[5], "~")
	if reply.Len() == 0 {
		g.Recalled = lingers
		return g, nil
	}
	switch reply.At(0).Int {
	case 0:
		return driver.Grant{}, b.heldError(reply, 1)
	case otherKind:
		found := driver.Kind(reply.At(1).Int)
		return driver.Grant{}, describe("acquire", req.Name, &driver.KindError{Found: found, Wanted: driver.Mutex})
	}
	g.Token, g.Tokens = uint64(reply.At(1).Int), 1
	if reply.Len() > 2 {
		g.Tokens, g.Recalled = int(reply.At(2).Int), lingers
	}
	return g, nil
}

// otherKind is what acquire.lua answers first when the name is that of a lock of another kind.
const otherKind = 3

// foreignLook is how soon a contender of profile [Redlock] looks again, since
// other libraries do not tell when they release.
const foreignLook = 100 * time.Millisecond

// holdersTTL returns the holder's time left that a refusal tells in ms: 0 in its last one, -1 if it never ends.
func holdersTTL(left int64) time.Duration {
	if left < 0 || left >= endless {
		return driver.UnknownTTL
	}
	return time.Duration(max(left, 1)) * time.Millisecond
}

// heldError reads the answer of a refusal, in which the holder's time left is at that place, and
// then the fields of the lock.
func (b *backend) heldError(answer redisconn.Reply, at int) *driver.HeldError {
	e := &driver.HeldError{TTL: holdersTTL(answer.At(at).Int)}
	for i := at + 1; i < answer.Len(); i++ {
		if field := answer.At(i).Str; b.opts.Profile == Redlock || !driver.ReservedOwner(field) {
			e.Owner = field
			break
		}
	}
	if b.opts.Profile == Redlock && (e.TTL == driver.UnknownTTL || e.TTL > foreignLook) {
		e.TTL = foreignLook
	}
	return e
}
