package several

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/internal/timelimit"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// GiveBack ends a ballot that has not become a grant: votes are given back at the same time, also those that are only
// on their way. It waits a moment for those that are known, and no longer than ctx lasts. It reports whether there was
// anything to give back: then nobody may ask under this owner again.
func (b *Ballot) GiveBack(ctx context.Context) (sent bool) {
	nodes := b.End()
	if len(nodes) == 0 {
		b.stores.forgetBallot(b)
		return false
	}
	known := make(map[*Node]bool, len(nodes))
	for _, n := range nodes {
		if b.Has(n) {
			known[n] = true
		}
	}
	answers := b.ReleaseAll(nodes)
	caller, limit := timelimit.Ends(ctx)
	moment := time.NewTimer(longestGiveBack)
	defer moment.Stop()
	for len(known) > 0 {
		select {
		case a := <-answers.C:
			delete(known, a.Node)
		case <-moment.C:
			return true
		case <-caller:
			return true
		case <-limit:
			return true
		}
	}
	return true
}

// longestGiveBack is how long those are waited for who give back what has not become a grant: it is certain by then.
const longestGiveBack = 100 * time.Millisecond

// Has reports whether the node is known to have given its vote.
func (b *Ballot) Has(n *Node) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.votes[n.index].state == given
}

// Released is what a node says of a release.
type Released struct {
	waiting int
	err     error
}

// ReleaseAll gives votes back at the same time, in the background. There is a node at least.
func (b *Ballot) ReleaseAll(nodes []*Node) Answers[Released] {
	forget := func() { b.stores.forgetBallot(b) }
	return Gather(b.stores, nodes, forget, func(ctx context.Context, n *Node) Released {
		waiting, err := b.Release(ctx, n)
		return Released{waiting, err}
	})
}

// Release gives the vote of a node back, after whatever is under way there. Where it is not known what became of
// that, it is tried again in the background.
func (b *Ballot) Release(ctx context.Context, n *Node) (waiting int, err error) {
	if err := b.enterLane(ctx, n); err != nil {
		b.stores.work.Go(func() { b.releaseLater(n) })
		return 0, err
	}
	return b.releaseVote(ctx, n)
}

// releaseLater gives the vote of a node back once nothing else is under way there.
func (b *Ballot) releaseLater(n *Node) {
	if b.enterLane(b.stores.background, n) == nil {
		_, _ = b.releaseVote(b.stores.Limit.Present(b.stores.Now()), n) // what is not certain is owed
	}
}

// releaseVote gives the vote of a node back where nothing else is under way.
func (b *Ballot) releaseVote(ctx context.Context, n *Node) (waiting int, err error) {
	g, may := b.at(n, b.lifeAskedFor())
	if !may && !b.isLate(n) {
		b.leaveLane(n, nil)
		return 0, driver.ErrLost
	}
	if !n.MayAsk() && !b.insistsAt(n) {
		b.owe(n)
		b.leaveLane(n, nil)
		return 0, errAway
	}
	waiting, err = n.Backend.Release(ctx, g)
	n.heardIn(ctx, err)
	if err == nil || errors.Is(err, driver.ErrLost) {
		b.giveUp(n)
	} else {
		b.owe(n)
	}
	b.leaveLane(n, err)
	return waiting, err
}

// isLate reports whether a request may still come to the node.
func (b *Ballot) isLate(n *Node) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.votes[n.index].late
}

// giveUp records that the vote of a node was given back. What was asked for without an answer may come later: it is
// released several times more.
func (b *Ballot) giveUp(n *Node) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := &b.votes[n.index]
	if v.state == unsure || v.late {
		d := b.debt(n)
		d.times = lateTimes
		n.owed.add(n, d)
	}
	v.state, v.late = none, false
}

// Release implements [driver.Backend]: votes are given back at the same time. It waits until so many nodes are free
// of the grant that somebody else can have it.
func (s *Stores) Release(ctx context.Context, g driver.Grant) (waiting int, err error) {
	if err := driver.Refused(driver.CheckOwner(g.Owner)); err != nil {
		return 0, err
	}
	b := s.Of(&g)
	nodes := b.End()
	if len(nodes) == 0 {
		s.forgetBallot(b)
		return 0, driver.ErrLost
	}
	b.Insist(nodes, s.rules.Keep)
	answers := b.ReleaseAll(nodes)
	c := releaseCount{keep: s.rules.Keep, need: len(nodes) - s.rules.Keep + 1, left: len(nodes)}
	_, c.won = b.Won()
	caller, limit := timelimit.Ends(ctx)
	for c.isOpen() {
		select {
		case a := <-answers.C:
			c.add(a.Value)
		case <-caller:
			return 0, c.underway(ctx, answers.Ended)
		case <-limit:
			return 0, c.underway(ctx, answers.Ended)
		}
	}
	c.awaitMore(ctx, answers, len(nodes)-(len(s.Nodes)-s.rules.Need))
	return c.waiting, c.result()
}

// awaitMore gives those a moment who have not answered, if it depends on them whether what is not known here to
// have been a grant was one, or whether so many are free of it that the next one can have it.
func (c *releaseCount) awaitMore(ctx context.Context, answers Answers[Released], free int) {
	matters := func() bool {
		return c.left > 0 && (c.freed+c.lost < free || c.freed < c.keep && c.freed+c.left >= c.keep)
	}
	if !matters() {
		return
	}
	moment := time.NewTimer(longestMoment)
	defer moment.Stop()
	for matters() {
		select {
		case a := <-answers.C:
			c.add(a.Value)
		case <-moment.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// releaseCount counts what nodes say of a release.
type releaseCount struct {
	keep, left, freed, lost, unsure, waiting int

	need int   // if so many have nothing of it (any more), it is too few who are left
	won  bool  // it was granted
	err  error // of one that did not answer
}

// isOpen reports whether it depends on answers still to come what became of the grant, or too few of its nodes are
// free.
func (c *releaseCount) isOpen() bool {
	switch {
	case c.left == 0 || c.freed+c.unsure+c.left < c.keep:
		return false
	case c.freed+c.lost < c.need:
		return true
	default:
		return c.won && c.freed < c.keep
	}
}

func (c *releaseCount) add(r Released) {
	c.left--
	c.waiting = max(c.waiting, r.waiting)
	switch {
	case r.err == nil:
		c.freed++
	case errors.Is(r.err, driver.ErrLost):
		c.lost++
	default:
		c.unsure++
		c.err = r.err
	}
}

// result says what became of the grant: it was there if so many nodes had it that nobody else could.
func (c *releaseCount) result() error {
	switch {
	case c.freed >= c.keep:
		return nil
	case c.freed+c.unsure+c.left < c.keep, !c.won && c.freed+c.lost >= c.need, !c.won && c.err == nil:
		return driver.ErrLost
	default:
		return c.err
	}
}

func (c *releaseCount) underway(ctx context.Context, ended <-chan struct{}) error {
	if c.freed >= c.keep {
		return nil
	}
	return &driver.UnderwayError{Err: fmt.Errorf("release: %w", ctx.Err()), Ended: ended}
}
