package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/ledger"
)

// pair is the ledger's state of a name and a store in memory, at the same time.
type pair struct {
	now   time.Time
	start time.Time
	state ledger.State
	mem   memory
	given []driver.Grant
	asked []driver.Request

	tokens map[uint64]uint64 // of grants, by those that they have in memory
	newest uint64
}

// memory is what a backend in memory can do.
type memory interface {
	driver.Backend
	driver.Inspector
	driver.Forcer
	driver.Annotator
	driver.Downgrader
	driver.Latches
}

const name = "n"

func newPair(t *rapid.T) *pair {
	start := time.UnixMicro(1_700_000_000_000_000)
	p := &pair{now: start, start: start}
	p.state = ledger.State{Name: name, Known: true, Token: ledger.FirstToken(start.UnixMicro(), 0)}
	b := memlock.NewBackend(memlock.NewStore(&memlock.StoreOptions{Now: func() time.Time { return p.now }}))
	mem, ok := b.(memory)
	if !ok {
		t.Fatalf("%T lacks something", b)
	}
	p.mem, p.tokens = mem, make(map[uint64]uint64)
	return p
}

func (p *pair) clock() *ledger.Clock {
	return &ledger.Clock{
		Now: p.now.Sub(p.start).Microseconds(), Wall: p.now.UnixMicro(), Age: p.now.Sub(p.start),
	}
}

// told is what an answer comes to, without what may differ: who of several is named, and who is told of it.
func told(err error) string {
	if held, ok := errors.AsType[*driver.HeldError](err); ok {
		return fmt.Sprintf("held, left %v, again %v, waits %t, place %d", held.TTL, held.Again, held.Waits, held.Place)
	}
	return fmt.Sprint(err)
}

func (p *pair) compare(t *rapid.T, what string, own, mem any, ownErr, memErr error) {
	if told(ownErr) != told(memErr) || ownErr == nil && fmt.Sprint(own) != fmt.Sprint(mem) {
		t.Fatalf("%s at %v: %v, %s; in memory it is %v, %s",
			what, p.now.Sub(p.start), own, told(ownErr), mem, told(memErr))
	}
}

func owners() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"a:1", "a:2", "b:1", "c:1", "d:1"})
}

func durations() *rapid.Generator[time.Duration] {
	return rapid.SampledFrom([]time.Duration{10 * time.Millisecond, 300 * time.Millisecond, time.Second, time.Minute})
}

func (p *pair) acquire(t *rapid.T) {
	req := driver.Request{
		Name: name, Owner: fmt.Sprintf("%s%d", owners().Draw(t, "owner"), rapid.IntRange(0, 3).Draw(t, "n")),
		TTL: durations().Draw(t, "ttl"), Tokens: rapid.SampledFrom([]int{1, 3, 700}).Draw(t, "tokens"),
		Mode: rapid.SampledFrom([]driver.Mode{
			driver.Exclusive, driver.Shared, driver.Write, driver.Permit,
		}).Draw(t, "mode"),
		Waits: rapid.Bool().Draw(t, "waits"),
	}
	switch req.Mode {
	case driver.Exclusive:
		if req.Fair = rapid.Bool().Draw(t, "fair"); !req.Fair {
			req.Above = uint64(rapid.SampledFrom([]int64{0, 0, int64(p.state.Token) + 5, 1}).Draw(t, "above"))
			req.Age = rapid.SampledFrom([]time.Duration{0, 0, time.Second}).Draw(t, "age")
		}
	case driver.Permit:
		req.Limit = rapid.IntRange(1, 3).Draw(t, "limit")
		req.Permits = rapid.IntRange(1, req.Limit).Draw(t, "permits")
	case driver.Write:
	case driver.Shared:
		req.Upgradeable = rapid.Bool().Draw(t, "upgradeable")
	}
	canGoOver := req.Mode.Kind() == driver.ReadWrite && !req.Upgradeable && len(p.given) > 0
	if canGoOver && rapid.Bool().Draw(t, "goes over") {
		req.Over = p.grant(t).Owner
	}
	req.Owner += fmt.Sprint(req.Mode, req.Permits, req.Upgradeable) // an owner asks for one thing
	if req.Over == req.Owner {
		req.Over = ""
	}
	p.asked = append(p.asked, req)
	before := p.state.Token
	own, ownErr := p.state.Acquire(p.clock(), &req, "client")
	mem, memErr := p.mem.Acquire(context.Background(), req)
	if ownErr == nil && memErr == nil {
		p.given = append(p.given, own)
		p.checkTokens(t, own, mem, max(before, req.Above))
		own.Token, own.Tokens = mem.Token, mem.Tokens
	}
	p.compare(t, fmt.Sprintf("acquire %+v", req), own, mem, ownErr, memErr)
}

// checkTokens checks that tokens are the same as before where those in memory are, and otherwise higher than all
// before. How high they are is another matter: these keep up with the clock.
func (p *pair) checkTokens(t *rapid.T, own, mem driver.Grant, above uint64) {
	known, again := p.tokens[mem.Token]
	last := own.Token + uint64(own.Tokens) - 1
	switch {
	case again && known != own.Token:
		t.Fatalf("%s had %d, and has %d now", own.Owner, known, own.Token)
	case !again && own.Token <= p.newest:
		t.Fatalf("%s has %d after %d", own.Owner, own.Token, p.newest)
	case own.Tokens < 1 || !again && last > max(above+1, uint64(p.now.UnixMicro())):
		t.Fatalf("%s has %d tokens to %d at %d", own.Owner, own.Tokens, last, p.now.UnixMicro())
	}
	p.tokens[mem.Token], p.newest = own.Token, max(p.newest, last)
}

// grant is one of those that were given.
func (p *pair) grant(t *rapid.T) driver.Grant {
	if len(p.given) == 0 {
		return driver.Grant{Name: name, Owner: "nobody:1", TTL: time.Second}
	}
	g := p.given[rapid.IntRange(0, len(p.given)-1).Draw(t, "grant")]
	g.TTL = durations().Draw(t, "ttl")
	return g
}

func (p *pair) release(t *rapid.T) {
	g := p.grant(t)
	_, memErr := p.mem.Release(context.Background(), g)
	p.compare(t, fmt.Sprintf("release %+v", g), nil, nil, p.state.Release(p.clock(), &g), memErr)
}

func (p *pair) renew(t *rapid.T) {
	g := p.grant(t)
	memErr := p.mem.Renew(context.Background(), []driver.Grant{g})[0]
	p.compare(t, fmt.Sprintf("renew %+v", g), nil, nil, p.state.Renew(p.clock(), &g), memErr)
}

// giveUp releases what was asked for, granted or not.
func (p *pair) giveUp(t *rapid.T) {
	if len(p.asked) == 0 {
		return
	}
	req := p.asked[rapid.IntRange(0, len(p.asked)-1).Draw(t, "asked")]
	g := req.Ungranted()
	_, memErr := p.mem.Release(context.Background(), g)
	p.compare(t, fmt.Sprintf("give up %+v", g), nil, nil, p.state.Release(p.clock(), &g), memErr)
}

func (p *pair) change(t *rapid.T) {
	g := p.grant(t)
	if g.Mode == driver.Write && rapid.Bool().Draw(t, "downgrade") {
		p.compare(t, "downgrade", nil, nil, p.state.Downgrade(p.clock(), &g), p.mem.Downgrade(context.Background(), g))
		return
	}
	meta := rapid.SampledFrom([]string{"", "x"}).Draw(t, "meta")
	memErr := p.mem.Annotate(context.Background(), g, meta)
	p.compare(t, "annotate", nil, nil, p.state.Annotate(p.clock(), &g, meta), memErr)
}

func (p *pair) force(t *rapid.T) {
	own, ownErr := p.state.Force(p.clock())
	mem, memErr := p.mem.ForceRelease(context.Background(), name)
	p.compare(t, "force", own, mem, ownErr, memErr)
}

func (p *pair) latch(t *rapid.T) {
	id := fmt.Sprint("call ", rapid.IntRange(0, 9).Draw(t, "id"))
	ctx, n := context.Background(), rapid.IntRange(1, 3).Draw(t, "count")
	var own, mem any
	var ownErr, memErr error
	switch rapid.IntRange(0, 3).Draw(t, "what") {
	case 0:
		own, ownErr = p.state.SetLatch(p.clock(), "set"+id, n)
		mem, memErr = p.mem.SetLatch(ctx, name, "set"+id, n)
	case 1:
		own, ownErr = p.state.CountDown(p.clock(), id, n)
		mem, memErr = p.mem.CountDown(ctx, name, id, n)
	case 2:
		own, ownErr = p.state.LatchCount(p.clock())
		mem, memErr = p.mem.LatchCount(ctx, name)
	default:
		own, ownErr = p.state.DropLatch(p.clock())
		mem, memErr = p.mem.DropLatch(ctx, name)
	}
	p.compare(t, "latch", own, mem, ownErr, memErr)
}

func (p *pair) inspect(t *rapid.T) {
	own := p.state.Describe(p.clock())
	mem, err := p.mem.Inspect(context.Background(), name)
	own.Token, mem.Token, own.Waiting, mem.Waiting = 0, 0, 0, 0 // who listens is not in the ledger
	p.compare(t, "inspect", fmt.Sprintf("%+v", own), fmt.Sprintf("%+v", mem), nil, err)
}

// TestLedgerDecidesOtherwise: it answers as the store in memory does, whatever is asked, and in whatever order.
func TestLedgerDecidesOtherwise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPair(t)
		t.Repeat(map[string]func(*rapid.T){
			"acquire": p.acquire, "acquire more": p.acquire, "acquire again": p.acquire, "release": p.release,
			"give up": p.giveUp, "renew": p.renew, "change": p.change, "force": p.force, "latch": p.latch,
			"": p.inspect,
			"pass": func(t *rapid.T) {
				p.now = p.now.Add(rapid.SampledFrom([]time.Duration{
					time.Millisecond, 50 * time.Millisecond, 150 * time.Millisecond, time.Second, 6 * time.Second,
					time.Minute,
				}).Draw(t, "time"))
			},
		})
	})
}
