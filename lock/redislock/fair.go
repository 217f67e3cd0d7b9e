package redislock

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// A fair lock is a mutex whose waiters stand in the line of Redisson's fair lock: see scripts/line.lua. Whoever
// releases it gives it to who is next, if that is one of ours whose client hears of it; else that one is told on a
// channel of its own, as by Redisson.

// How a waiter is told that the lock is its own, in the words of the scripts.
const (
	toldByGrant    = "g" // it is granted the lock, if its client is there to hear of it
	toldUncounted  = "c" // the same in a cluster, where nobody counts who hears
	toldByChannel  = "w" // its channel says that it may ask
	toldOfNothing  = ""  // it does not wait
	givenFirstWord = "given"
)

// acquireFair asks for a fair lock. What is granted unasked has a shorter life at first, so that must be allowed.
func (b *backend) acquireFair(ctx context.Context, req *driver.Request, unasked bool) (driver.Grant, error) {
	if err := b.checkFair(req); err != nil {
		return driver.Grant{}, err
	}
	if err := ctx.Err(); err != nil {
		return driver.Grant{}, notSent(err)
	}
	how := b.toldHow(req, unasked)
	h := b.newHandle(req.Name, req.Owner)
	h.last[2] = b.latchLife(req.TTL)
	call := redisconn.Call{
		Script: b.scripts.fair, Keys: []string{h.keys.name, h.keys.token}, Args: []string{
			b.tokenTTL, b.leaseText(req.TTL), req.Owner, strconv.Itoa(max(req.Tokens, 1)), marked(req), how,
			milliseconds(claimOf(req.TTL)), b.pubsub.command(b),
		},
	}
	reply, err := b.evalFair(ctx, h, call)
	if err != nil {
		return driver.Grant{}, describe("acquire", req.Name, err)
	}
	b.inbox.attend(req.Owner)
	b.checkOnce()
	return b.readFair(h, req, how, reply)
}

func (b *backend) evalFair(ctx context.Context, h *handle, call redisconn.Call) (redisconn.Reply, error) {
	if b.opts.Acks == AcksNone {
		return b.conn.Eval(ctx, call.Script, call.Keys, call.Args)
	}
	return b.evalAcked(ctx, call, func(ctx context.Context) error {
		_, err := b.evalRelease(ctx, h, b.pubsub.command(b))
		return err
	})
}

// checkFair refuses what this backend lacks, and names whose line would be another's.
func (b *backend) checkFair(req *driver.Request) error {
	if err := b.checkRequest(req); err != nil {
		return err
	}
	inner, open := strings.CutPrefix(req.Name, "{")
	if inner, closed := strings.CutSuffix(inner, "}"); open && closed && !strings.Contains(inner, "{") {
		return refusedName("%q would wait in the line of the lock %q", req.Name, inner)
	}
	return nil
}

// toldHow says how a waiter is told that the lock is its own. Whom replicas are to know of asks by itself.
func (b *backend) toldHow(req *driver.Request, unasked bool) string {
	switch {
	case !req.Waits:
		return toldOfNothing
	case !unasked || b.opts.Acks != AcksNone || b.inboxOf(req.Owner) == nil || !isNumbered(req.Owner):
		return toldByChannel
	case b.conn.Cluster():
		return toldUncounted
	default:
		return toldByGrant
	}
}

// isNumbered reports whether a client knows its owners apart by what it is told: by their numbers.
func isNumbered(owner string) bool {
	_, err := strconv.ParseUint(owner[strings.LastIndexByte(owner, ':')+1:], 10, 64)
	return err == nil
}

// readFair reads the answer of fair_acquire.lua.
func (b *backend) readFair(h *handle, req *driver.Request, how string, answer redisconn.Reply) (driver.Grant, error) {
	switch answer.At(0).Int {
	case crowdGranted:
		if i := b.inboxOf(req.Owner); i.leaveLine(req.Owner) && answer.Len() > 3 {
			i.awaitMessage() // that would have told so
		}
		return driver.Grant{
			Name: req.Name, Owner: req.Owner, Mode: req.Mode, TTL: req.TTL, Handle: h,
			Token: uint64(answer.At(1).Int), Tokens: int(answer.At(2).Int),
		}, nil
	case otherKind:
		found := driver.Kind(answer.At(1).Int)
		return driver.Grant{}, describe("acquire", req.Name, &driver.KindError{Found: found, Wanted: driver.Mutex})
	}
	e := &driver.HeldError{
		TTL: holdersTTL(answer.At(1).Int), Owner: answer.At(2).Str, Waits: answer.At(3).Int == 1,
		Place: int(answer.At(4).Int), Token: uint64(answer.At(5).Int), Listen: answer.At(6).Int == 1,
	}
	if e.Place > 0 {
		e.Again = claimOf(req.TTL)
	}
	if how == toldByGrant || how == toldUncounted {
		e.Claim = e.Again
		if i := b.inboxOf(req.Owner); i != nil {
			i.addToLine(req.Owner, req.Name)
		}
	}
	return driver.Grant{}, e
}

// WatchTurn implements [driver.TurnWaiter].
func (b *backend) WatchTurn(ctx context.Context, name, owner string) (driver.Watch, error) {
	sharded, err := b.pubsub.sharded(ctx, b)
	if err != nil {
		return nil, describe("watch", name, err)
	}
	w := &watch{c: make(chan struct{}, 1), ofTurn: true}
	channel := b.layout.channelOf(name, driver.Mutex) + ":" + owner
	if err := b.hub.addWatch(ctx, w, channel, sharded); err != nil {
		return nil, describe("watch", name, err)
	}
	return w, nil
}

// hearGiven is told of a fair lock that this client was given. hub.mu is held.
func (i *inbox) hearGiven(text string) {
	if g, err := readGiven(i.client, text); err == nil {
		i.removeFromLine(g.Owner)
		i.give(g)
	}
}

// addToLine enters a waiter who may be given a lock, so that it asks when that may have been missed.
func (i *inbox) addToLine(owner, name string) {
	i.hub.mu.Lock()
	defer i.hub.mu.Unlock()
	i.inLine[owner] = name
	i.waiters.Store(int32(len(i.inLine)))
}

// leaveLine takes one out who does not wait any more, and reports whether it was there.
func (i *inbox) leaveLine(owner string) bool {
	if i == nil || i.waiters.Load() == 0 {
		return false
	}
	i.hub.mu.Lock()
	defer i.hub.mu.Unlock()
	_, was := i.inLine[owner]
	i.removeFromLine(owner)
	return was
}

// removeFromLine is leaveLine for who has hub.mu.
func (i *inbox) removeFromLine(owner string) {
	delete(i.inLine, owner)
	i.waiters.Store(int32(len(i.inLine)))
}

// readGiven reads what a client is told: the number of its owner, the token, the lease in ms, and the lock's name.
func readGiven(client, text string) (driver.Grant, error) {
	word := strings.SplitN(text, " ", 4)
	if len(word) != 4 {
		return driver.Grant{}, errors.New("too short")
	}
	token, err := strconv.ParseUint(word[1], 10, 64)
	lease, wrong := strconv.ParseUint(word[2], 10, 32)
	return driver.Grant{
		Name: word[3], Owner: client + word[0], TTL: time.Duration(lease) * time.Millisecond, Token: token, Tokens: 1,
	}, errors.Join(err, wrong)
}

// readLine reads who stands in line, and what those of ours have said: see scripts/line.lua.
func readLine(info *driver.Info, answer redisconn.Reply) {
	clients := make(map[string]bool)
	for i := 0; i+1 < answer.Len(); i += 2 {
		w := driver.InLine{Owner: answer.At(i).Str}
		if word := strings.SplitN(answer.At(i+1).Str, " ", 7); len(word) == 7 {
			since, _ := strconv.ParseInt(word[0], 10, 64)
			w.Since, w.Meta = time.UnixMicro(since), word[6]
		}
		info.Line = append(info.Line, w)
		clients[driver.ClientOf(w.Owner)] = true
	}
	info.Waiting += len(clients)
}
