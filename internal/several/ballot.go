package several

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/settle"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// Ballot is what one owner has at the nodes.
type Ballot struct {
	stores *Stores
	grant  driver.Grant // what is released; with the tokens that were agreed on, once they are

	meta string // is stored beside each vote

	mu    sync.Mutex
	votes []vote
	won   bool          // it is a grant
	over  bool          // it is being given back: nobody asks for votes any more
	all   bool          // it is to be given back by nodes that do not answer, too
	until time.Duration // by then it has run out everywhere, unless it is renewed
	sure  time.Duration // until then enough nodes have it to keep others out
	seeks bool          // somebody asks for the votes that are missing

	shaken   time.Duration // until then it may be about to be taken away at more nodes
	early    bool          // a node has taken it away before it was a grant
	takenWhy error         // what the last node has said that has taken it away; nil for by force

	rival      string        // whom it has met at a node before all of its own
	rivalSince time.Duration // since when
	pleas      []heardPlea   // what it was asked lately
	unheard    *heardPlea    // what it was asked before it was a grant; nil if nothing was
	life       time.Duration // how long it was to live from the last renewal on; less than the grant once it was cut
}

// vote is what the owner has at one node.
type vote struct {
	state state
	late  bool // a request for it has had no answer, and may come when it was given back
	taken bool // it was taken away while a call was under way, of which the answer may be older
	grant driver.Grant
	busy  bool          // a call is under way
	free  chan struct{} // closed when it is not any more; nil if nobody waits for that
}

// mayCome reports whether the node may have given the vote, or may still do so.
func (v *vote) mayCome() bool { return v.state != none || v.late || v.busy }

type state uint8

const (
	none   state = iota // nothing
	given               // the vote
	unsure              // perhaps the vote
)

// errOver says that a vote is asked for that nobody wants any more.
var errOver = fmt.Errorf("%w: it is given back", driver.ErrUnavailable)

// errAway says that a node was not asked.
var errAway = fmt.Errorf("%w: it has not answered before", driver.ErrUnavailable)

// Won reports whether the ballot is a grant, and returns its first token then.
func (b *Ballot) Won() (token uint64, won bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.grant.Token, b.won
}

// Again returns the grant that was made of the ballot, for that time since it was asked for.
func (b *Ballot) Again(ttl, since time.Duration) driver.Grant {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.grant.TTL, b.sure = ttl, max(b.sure, since+ttl)
	g := b.grant
	g.Handle = b
	return g
}

// Win makes a grant of the ballot, with those tokens, and for its time since it was asked for. Whoever gets it is told
// what nodes were told for it meanwhile.
func (b *Ballot) Win(token uint64, tokens int, since time.Duration) driver.Grant {
	g := b.becomeGrant(token, tokens, since)
	if b.wasTakenEarly() {
		b.stores.endTaken(b)
	} else {
		b.tellUnheard()
	}
	return g
}

func (b *Ballot) becomeGrant(token uint64, tokens int, since time.Duration) driver.Grant {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.won, b.grant.Token, b.grant.Tokens, b.sure = true, token, tokens, since+b.grant.TTL
	g := b.grant
	g.Handle = b
	return g
}

// confirm records until when enough nodes have the grant to keep others out.
func (b *Ballot) confirm(until time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sure = max(b.sure, until)
}

// Ask asks a node for its vote. The calls of one owner at a node follow each other.
func (b *Ballot) Ask(ctx context.Context, n *Node, req driver.Request) (driver.Grant, error) {
	if err := b.beginToAsk(ctx, n); err != nil {
		return driver.Grant{}, err
	}
	return b.askInTurn(ctx, n, req)
}

// AskAgain asks a node for the vote that a grant has there already. It reports whether nobody else can have had that
// vote meanwhile: the node has kept it; or it has never been reached and gives it now, with the grant's first token,
// which would be behind it if others had been given more.
func (b *Ballot) AskAgain(ctx context.Context, n *Node, req driver.Request) (g driver.Grant, kept bool, err error) {
	if err := b.beginToAsk(ctx, n); err != nil {
		return driver.Grant{}, false, err
	}
	before, has := b.given(n)
	if !has {
		g, err = b.askInTurn(ctx, n, req)
		return g, err == nil && g.Token == req.Above+1, err
	}
	req.Above = 1 // it keeps the tokens it has
	g, err = b.askInTurn(ctx, n, req)
	return g, err == nil && g.Token >= before.Token && g.Token-before.Token < uint64(before.Tokens), err
}

// beginToAsk waits until nothing else is under way at a node, if it is to be asked at all.
func (b *Ballot) beginToAsk(ctx context.Context, n *Node) error {
	if err := b.enterLane(ctx, n); err != nil {
		return err
	}
	if b.isOver() {
		b.leaveLane(n, nil)
		return errOver
	}
	if !n.MayAsk() {
		b.leaveLane(n, nil)
		return errAway
	}
	return nil
}

// given returns a node's vote, if it has given it.
func (b *Ballot) given(n *Node) (g driver.Grant, has bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := &b.votes[n.index]
	return v.grant, v.state == given
}

// askInTurn asks a node at which nothing else is under way.
func (b *Ballot) askInTurn(ctx context.Context, n *Node, req driver.Request) (driver.Grant, error) {
	b.mayLive(req.TTL)
	g, err := b.stores.askNode(ctx, n, req)
	n.heardIn(ctx, err)
	b.recordVote(n, g, err)
	if life := b.lifeNow(); err == nil && life < req.TTL { // it was cut while this vote was on its way
		b.cutAgain(ctx, n, life)
	}
	b.leaveLane(n, err)
	if err == nil && g.Token > driver.MaxAbove {
		return g, fmt.Errorf("%w: its clock is centuries ahead: token %d", driver.ErrUnavailable, g.Token)
	}
	return g, err
}

func (b *Ballot) lifeNow() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.life
}

// lifeAskedFor returns how long it was to live when it was asked for last.
func (b *Ballot) lifeAskedFor() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.grant.TTL
}

// askNode asks a node that is known to be no other.
func (s *Stores) askNode(ctx context.Context, n *Node, req driver.Request) (driver.Grant, error) {
	if err := s.identify(ctx, n); err != nil {
		if !errors.Is(err, driver.ErrRefused) {
			err = unasked(err)
		}
		return driver.Grant{}, err
	}
	return n.Backend.Acquire(ctx, req)
}

// unasked says that a node has done nothing, whatever has kept it from saying who it is.
func unasked(why error) error {
	return fmt.Errorf("%w: it does not say who it is: %s", driver.ErrUnavailable, why.Error())
}

// enterLane waits until no other call of this owner is under way at the node.
func (b *Ballot) enterLane(ctx context.Context, n *Node) error {
	v := &b.votes[n.index]
	for {
		b.mu.Lock()
		if !v.busy {
			v.busy = true
			b.mu.Unlock()
			return nil
		}
		if v.free == nil {
			v.free = make(chan struct{})
		}
		free := v.free
		b.mu.Unlock()
		select {
		case <-free:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", driver.ErrUnavailable, ctx.Err())
		}
	}
}

// leaveLane lets the next call in. One that its caller has left goes on for a while.
func (b *Ballot) leaveLane(n *Node, err error) {
	if call, underway := errors.AsType[*driver.UnderwayError](err); underway {
		b.stores.work.Go(func() {
			select {
			case <-call.Ended:
			case <-b.stores.background.Done():
			}
			b.leaveLane(n, nil)
		})
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	v := &b.votes[n.index]
	v.busy = false
	if v.free != nil {
		close(v.free)
		v.free = nil
	}
}

// recordVote records what came of asking for a vote.
func (b *Ballot) recordVote(n *Node, g driver.Grant, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := &b.votes[n.index]
	switch {
	case err == nil && v.taken:
		v.state, v.grant = unsure, g
	case err == nil:
		v.state, v.grant = given, g
	case !settle.NothingHappened(err):
		v.state, v.late = cmp.Or(v.state, unsure), true
	case errors.Is(err, driver.ErrHeld):
		v.state = none
	}
	v.taken = false
}

// End says that nobody asks for votes any more. It returns the nodes that may have given one.
func (b *Ballot) End() []*Node {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	var nodes []*Node
	for i := range b.votes {
		if v := &b.votes[i]; v.mayCome() {
			nodes = append(nodes, b.stores.Nodes[i])
		}
	}
	return nodes
}

// Insist has the votes given back by all nodes at once, also those that may be at nodes which have not answered, if
// fewer than so many have: else it would not be known what becomes of the grant.
func (b *Ballot) Insist(nodes []*Node, least int) {
	for _, n := range nodes {
		if !n.IsAway() {
			least--
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = least > 0
}

// insistsAt reports whether to ask a node to give its vote back although it has not answered: what it is known to have
// is in others' way as soon as they reach it.
func (b *Ballot) insistsAt(n *Node) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all || b.votes[n.index].state == given
}

func (b *Ballot) isOver() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.over
}

// hasRunOut reports whether no vote can be left.
func (b *Ballot) hasRunOut(now time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return now >= b.until
}

// prolong records that votes may live for so long from now on.
func (b *Ballot) prolong(ttl time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.life = ttl
	b.until = max(b.until, b.stores.Now()+ttl)
}

// mayLive records that a vote may live for so long from now on, without a renewal.
func (b *Ballot) mayLive(ttl time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.until = max(b.until, b.stores.Now()+ttl)
}

// at returns the grant of a node as it is renewed and released there, with that life, and whether it may be there.
func (b *Ballot) at(n *Node, ttl time.Duration) (g driver.Grant, may bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := &b.votes[n.index]
	if g = v.grant; g.Owner == "" {
		g = b.grant
	}
	g.TTL = ttl
	return g, v.state != none
}

// lose records that a node has the vote no more, and reports whether so few are left that they keep nobody out.
func (b *Ballot) lose(n *Node) (lost bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dropVote(n)
}

// dropVote is lose for those who hold b.mu.
func (b *Ballot) dropVote(n *Node) (lost bool) {
	b.votes[n.index].state = none
	left := 0
	for i := range b.votes {
		if b.votes[i].state != none {
			left++
		}
	}
	return b.won && !b.over && left < b.stores.rules.Keep
}

// isHeld reports whether it is a grant that is not given back.
func (b *Ballot) isHeld() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.won && !b.over
}

// Spread implements [driver.Spread].
func (b *Ballot) Spread() (held, nodes, surplus int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.votes {
		if b.votes[i].state == given {
			held++
		}
	}
	return held, len(b.votes), held - b.stores.rules.Keep
}

// HasVotes reports whether a node may have given its vote, or be about to.
func (b *Ballot) HasVotes() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.votes {
		if b.votes[i].mayCome() {
			return true
		}
	}
	return false
}
