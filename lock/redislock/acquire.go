package redislock

import (
	"context"
	"strconv"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// handle is what a grant carries about: the keys and texts of its release, made
// once. It is one piece of memory together with what the acquisition sends.
type handle struct {
	keys    keys
	call    [2]string // keys of the acquisition
	args    [5]string // the first is common to all of a batch
	release [3]string // keys of the release
	last    [3]string // its arguments; the first two are common to all of a batch
}

func (b *backend) newHandle(name, owner string) *handle {
	h := &handle{keys: b.layout.of(name, owner)}
	h.release = [...]string{h.keys.name, h.keys.channel, h.keys.latch}
	h.last = [...]string{"", latchTTL, owner}
	return h
}

// Acquire implements [driver.Backend].
func (b *backend) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	if err := b.checkRequest(&req); err != nil {
		return driver.Grant{}, err
	}
	if err := ctx.Err(); err != nil {
		return driver.Grant{}, notSent(err)
	}
	h := b.newHandle(req.Name, req.Owner)
	reply, err := b.evalAcquire(ctx, h, &req)
	if err != nil {
		return driver.Grant{}, describe("acquire", req.Name, err)
	}
	b.checkOnce()
	return b.grant(h, &req, reply)
}

func (b *backend) evalAcquire(ctx context.Context, h *handle, req *driver.Request) (redisconn.Reply, error) {
	h.call = [...]string{h.keys.name, h.keys.token}
	h.args = [...]string{b.tokenTTL, b.leaseText(req.TTL), req.Owner, strconv.Itoa(max(req.Tokens, 1)), marked(req)}
	switch {
	case b.opts.Acks != AcksNone:
		return b.evalAcked(ctx, h, h.args[:])
	case b.acquiring != nil:
		return b.acquiring.eval(ctx, h.call[:], h.args[1:])
	default:
		return b.conn.Eval(ctx, b.scripts.acquire, h.call[:], h.args[:])
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
	if reply.Len() == 0 {
		return g, nil
	}
	if reply.At(0).Int == 0 {
		return driver.Grant{}, b.heldError(reply)
	}
	g.Token, g.Tokens = uint64(reply.At(1).Int), 1
	if reply.Len() > 2 {
		g.Tokens = int(reply.At(2).Int)
	}
	return g, nil
}

// foreignLook is how soon a contender of profile [Redlock] looks again, since
// other libraries do not tell when they release.
const foreignLook = 100 * time.Millisecond

// heldError reads the answer of a refusal: the holder's time left and the
// fields of the lock.
func (b *backend) heldError(answer redisconn.Reply) *driver.HeldError {
	e := &driver.HeldError{TTL: driver.UnknownTTL}
	if left := answer.At(1).Int; left >= 0 { // 0: its last millisecond; -1: it never ends
		e.TTL = time.Duration(max(left, 1)) * time.Millisecond
	}
	for i := 2; i < answer.Len(); i++ {
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
