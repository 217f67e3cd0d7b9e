package several

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// Seek asks for the votes that a grant lacks, several times within a second or two. After that it is done with each
// renewal.
func (b *Ballot) Seek() {
	if len(b.missingNodes()) == 0 || !b.beginToSeek() {
		return
	}
	b.stores.work.Go(func() {
		defer b.endSeeking()
		for pause := 10 * time.Millisecond; pause < 2*time.Second; pause *= 4 {
			if !sleep.For(b.stores.background, pause) || !b.seek() {
				return
			}
		}
	})
}

// seekAgain asks for them once.
func (b *Ballot) seekAgain() {
	if len(b.missingNodes()) == 0 || !b.beginToSeek() {
		return
	}
	defer b.endSeeking()
	b.seek()
}

// seek asks each node once that the grant lacks. It reports whether some are missing still.
func (b *Ballot) seek() (more bool) {
	req := b.requestForMore()
	nodes := b.missingNodes()
	answers := Gather(b.stores, nodes, nil, func(ctx context.Context, n *Node) error {
		_, err := b.Ask(ctx, n, req)
		if err == nil && !b.isSure() { // somebody else can have had the lock when it was given
			_, _ = b.Release(ctx, n)
		}
		return err
	})
	select {
	case <-answers.Ended:
		for range nodes {
			b.meet(<-answers.C)
		}
		return len(b.missingNodes()) > 0
	case <-b.stores.background.Done():
		return false
	}
}

// missingNodes returns the nodes that have not given their votes to a grant; if all have, those that do not know of its
// tokens. None of what is none, or may not be any more: somebody else can have had the lock then; none of what was cut,
// so that it ends soon; and none of what is being taken away.
func (b *Ballot) missingNodes() []*Node {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.stores.Now()
	if !b.won || b.over || b.life < b.grant.TTL || now >= b.sure || now < b.shaken {
		return nil
	}
	var without, behind []*Node
	held := 0
	for i := range b.votes {
		switch v := &b.votes[i]; {
		case v.state == given:
			held++
			if v.grant.Token+uint64(v.grant.Tokens) < b.grant.Token+uint64(b.grant.Tokens) && !v.busy {
				behind = append(behind, b.stores.Nodes[i])
			}
		case v.state == none && !v.busy:
			without = append(without, b.stores.Nodes[i])
		}
	}
	switch {
	case held < b.stores.rules.Keep:
		return nil
	case len(without) == 0:
		return behind
	default:
		return without[:min(len(without), b.stores.mostAtOnce())]
	}
}

// mostAtOnce returns how many votes are sought at once: too few to keep others out. They may be those of nodes at which
// the grant was taken away by force, and the others the next at which it will be.
func (s *Stores) mostAtOnce() int {
	if s.rules.TakenAtOnce {
		return len(s.Nodes)
	}
	return max(s.rules.Keep-1, 1)
}

// shakenTime is how long no votes are sought for a grant after a node has told that it was taken away there by force:
// that comes to the other nodes, too, and is not to be undone behind it.
const shakenTime = longestSilence

// isSure reports whether enough nodes have the grant now to keep others out.
func (b *Ballot) isSure() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stores.Now() < b.sure
}

// requestForMore asks a node to join a grant, and to keep its last token.
func (b *Ballot) requestForMore() driver.Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := &b.grant
	req := driver.Request{Name: g.Name, Owner: g.Owner, Mode: g.Mode, TTL: g.TTL, Tokens: 1, Meta: b.meta}
	if last := g.Token + uint64(g.Tokens); last > 2 {
		req.Above = last - 2
	}
	return req
}

func (b *Ballot) beginToSeek() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seeks {
		return false
	}
	b.seeks = true
	return true
}

func (b *Ballot) endSeeking() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seeks = false
}

// meet records whom a grant has met at a node that it lacks. If that is before all of its own, and the same one for
// long, it is no contender on the way, but has the lock by the nodes before: the grant is over.
func (b *Ballot) meet(a Answer[error]) {
	held, ok := errors.AsType[*driver.HeldError](a.Value)
	if ok && b.isOutdoneBy(held.Owner, a.Node) {
		b.GiveBack(b.stores.background)
		why := fmt.Errorf("at a node before all of its own it is held by %s", driver.AsPublicOwner(held.Owner))
		b.stores.tellOwner(driver.Message{Name: b.grant.Name, Owner: b.grant.Owner, Kind: driver.Taken, Why: why})
	}
}

func (b *Ballot) isOutdoneBy(owner string, at *Node) bool {
	now := b.stores.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	first := slices.IndexFunc(b.votes, func(v vote) bool { return v.state == given })
	if b.stores.rules.Yield == 0 || at.index > first || owner == "" {
		return false
	}
	if b.rival != owner {
		b.rival, b.rivalSince = owner, now
	}
	return now-b.rivalSince >= b.stores.rules.Yield
}
