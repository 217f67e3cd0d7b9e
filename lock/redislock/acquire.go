package redislock

import (
	"context"
	"strconv"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
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

func (b *backend) evalAcquire(ctx context.Context, h *handle, req *driver.Request) (Reply, error) {
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
func (b *backend) grant(h *handle, req *driver.Request, reply Reply) (driver.Grant, error) {
	g := driver.Grant{
		Name: req.Name, Owner: req.Owner, Mode: req.Mode, TTL: req.TTL,
		Token: uint64(reply.Int), Tokens: max(req.Tokens, 1), Handle: h,
	}
	if len(reply.Items) == 0 {
		return g, nil
	}
	if reply.Items[0].Int == 0 {
		return driver.Grant{}, b.heldError(reply.Items[1:])
	}
	g.Token, g.Tokens = uint64(reply.Items[1].Int), 1
	if len(reply.Items) > 2 {
		g.Tokens = int(reply.Items[2].Int)
	}
	return g, nil
}

// foreignLook is how soon a contender of profile [Redlock] looks again, since
// other libraries do not tell when they release.
const foreignLook = 100 * time.Millisecond

// heldError reads the answer of a refusal: the holder's time left and the
// fields of the lock.
func (b *backend) heldError(answer []Reply) *driver.HeldError {
	e := &driver.HeldError{}
	if left := answer[0].Int; left >= 0 { // 0: its last millisecond; -1: it never ends
		e.TTL = time.Duration(max(left, 1)) * time.Millisecond
	}
	for _, field := range answer[1:] {
		if b.opts.Profile == Redlock || !driver.ReservedOwner(field.Str) {
			e.Owner = field.Str
			break
		}
	}
	if b.opts.Profile == Redlock && (e.TTL == 0 || e.TTL > foreignLook) {
		e.TTL = foreignLook
	}
	return e
}
