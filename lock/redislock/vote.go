package redislock

import (
	"context"
	"strconv"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// tooYoung is what vote.lua answers first when the server has not kept everything for as long as it must.
const tooYoung = 4

// acquireVote takes a lock that is to be one of several. It is asked for alone: whoever asks several servers
// waits for the slowest of them, and so for no other request.
func (b *backend) acquireVote(ctx context.Context, req *driver.Request) (driver.Grant, error) {
	if err := b.checkRequest(req); err != nil {
		return driver.Grant{}, err
	}
	if err := ctx.Err(); err != nil {
		return driver.Grant{}, notSent(err)
	}
	h := b.newHandle(req.Name, req.Owner)
	h.last[2] = b.latchLife(req.TTL)
	reply, err := b.evalVote(ctx, h, redisconn.Call{
		Script: b.scripts.vote, Keys: []string{h.keys.name, h.keys.token},
		Args: []string{
			b.tokenTTL, b.leaseText(req.TTL), req.Owner, strconv.Itoa(max(req.Tokens, 1)), marked(req),
			strconv.FormatUint(req.Above, 10), ageText(req),
		},
	})
	if err != nil {
		return driver.Grant{}, describe("acquire", req.Name, err)
	}
	b.inbox.attend(req.Owner)
	b.checkOnce()
	if reply.Len() > 0 && reply.At(0).Int == tooYoung {
		return driver.Grant{}, describe("acquire", req.Name, driver.ErrYoung)
	}
	return b.grant(h, req, reply)
}

func ageText(req *driver.Request) string {
	if req.Age <= 0 {
		return "0"
	}
	return milliseconds(req.Age)
}

func (b *backend) evalVote(ctx context.Context, h *handle, call redisconn.Call) (redisconn.Reply, error) {
	if b.opts.Acks == AcksNone {
		return b.conn.Eval(ctx, call.Script, call.Keys, call.Args)
	}
	return b.evalAcked(ctx, call, b.takingBack(h))
}
