package redislock

import (
	"context"
	"strconv"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// Stand implements [driver.Successor]. A request stands where its client hears of what it is
// granted, and the name is busy: else there is nothing to be won by it.
func (b *backend) Stand(ctx context.Context, req driver.Request) (driver.Grant, error) {
	if req.Fair {
		return b.acquireFair(ctx, &req, true)
	}
	if b.heirs == nil || req.Mode != driver.Exclusive || req.IsVote() || req.TTL < shortestLease ||
		!looksLikeOwner(req.Owner) {
		return b.Acquire(ctx, req)
	}
	h := b.newHandle(req.Name, req.Owner)
	if err := b.heirs.giveWay(ctx, h.keys.channel); err != nil {
		return driver.Grant{}, notSent(err)
	}
	number, how := b.howToStand(h, &req)
	reply, err := b.request(ctx, h, &req, b.lingerWord(&req)+how)
	if err != nil {
		return driver.Grant{}, err
	}
	if reply.Len() > 0 && reply.At(0).Int == 2 {
		return driver.Grant{}, b.stands(h, &req, number, reply)
	}
	grant, err := b.grant(h, &req, reply)
	if err != nil {
		if ofAnotherLibrary(reply) {
			b.heirs.meetForeign(h.keys.channel)
		}
		return grant, err
	}
	b.inheritUnheard(&grant) // if it was granted before
	return grant, nil
}

// Inherit implements [driver.Successor].
func (b *backend) Inherit(tell func(driver.Grant)) {
	if b.heirs != nil {
		b.heirs.tell = tell
	}
	if b.inbox != nil {
		b.inbox.give = tell
	}
}

// howToStand says in the words of acquire.lua whether a request is to stand, and by which number. Where releases
// of the name are listened for, somebody here has waited for it lately.
func (b *backend) howToStand(h *handle, req *driver.Request) (number, how string) {
	if b.inboxOf(req.Owner) == nil {
		return "", ""
	}
	when := "?"
	if b.hub.listening(h.keys.channel) > 0 {
		when = "="
	}
	var text [32]byte
	made := append(append(append(text[:0], when...), claimText(req.TTL)...), ' ')
	start := len(made)
	how = string(strconv.AppendUint(made, b.heirs.requests.Add(1), 10))
	return how[start:], how
}

// claimText is the claim of a lease in the words of the scripts, the usual one without making it anew.
func claimText(lease time.Duration) string {
	if lease >= longestClaim {
		return "5000"
	}
	return milliseconds(lease)
}

// ofAnotherLibrary reports whether a refusal tells of a holder who stores nothing beside the owner.
func ofAnotherLibrary(refusal redisconn.Reply) bool {
	for i := 2; i < refusal.Len(); i++ {
		if refusal.At(i).Str == "bedrock:meta" {
			return false
		}
	}
	return refusal.Len() > 2
}

// stands enters a request that stands, and returns its refusal.
func (b *backend) stands(h *handle, req *driver.Request, number string, answer redisconn.Reply) *driver.HeldError {
	heir := &heir{request: number, handle: h, grant: driver.Grant{
		Name: req.Name, Owner: req.Owner, Mode: req.Mode, TTL: req.TTL,
		Token: uint64(answer.At(1).Int), Tokens: int(answer.At(2).Int), Handle: h,
	}}
	h.last[2] = latchTTL // what the lock has left to live then is less
	b.heirs.add(heir)
	refusal := b.heldError(answer, 3)
	refusal.Claim, refusal.Token = claimOf(req.TTL), heir.grant.Token
	return refusal
}

// inheritUnheard gives a grant that the server tells of for the second time all the tokens that were
// reserved, if it was had by standing.
func (b *backend) inheritUnheard(g *driver.Grant) {
	stood := b.heirs.endStanding(g.Owner)
	if stood == nil || stood.grant.Token+uint64(stood.grant.Tokens) != g.Token+1 {
		return
	}
	if hears := b.inboxOf(g.Owner); hears != nil {
		hears.awaitMessage()
	}
	g.Token, g.Tokens, g.Handle = stood.grant.Token, stood.grant.Tokens, stood.handle
	stood.handle.passed = &passing{times: 1, heard: time.Now()}
}
