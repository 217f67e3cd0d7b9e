package several

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/internal/timelimit"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// Renew implements [driver.Backend]. A grant goes on if so many nodes have had it all the time that nobody else
// can have had it meanwhile. Then the votes that are missing are asked for once more, in the background.
func (s *Stores) Renew(ctx context.Context, grants []driver.Grant) []error {
	s.PingInBackground()
	r := newRenewal(s, grants)
	answers := Gather(s, s.Nodes, nil, r.renewAt)
	caller, limit := timelimit.Ends(ctx)
	var late <-chan time.Time
	for range s.Nodes {
		select {
		case a := <-answers.C:
			r.add(a.Node, a.Value)
		case <-late: // nobody knows whether they are back
			s.work.Go(func() { r.seekMissing(answers.Ended) })
			return r.results(nil)
		case <-caller:
			return r.results(ctx.Err())
		case <-limit:
			return r.results(ctx.Err())
		}
		if r.decided() {
			break
		}
		if late == nil && r.allHaveSaid() {
			slow := time.NewTimer(s.rules.Listen)
			defer slow.Stop()
			late = slow.C
		}
	}
	s.work.Go(func() { r.seekMissing(answers.Ended) })
	return r.results(nil)
}

// restTime is how long a renewal waits for the answers that it does not need.
const restTime = 200 * time.Millisecond

// renewal is one of several grants, at all nodes.
type renewal struct {
	stores  *Stores
	ballots []*Ballot
	lives   []time.Duration
	counts  []renewCount
	sent    time.Duration
}

// renewCount counts what nodes say of a grant.
type renewCount struct {
	say                []bool // whose silence means something, by node
	left, kept, unsure int    // of those with a say; and how many of all have kept it
	mute               int    // answers still to come that count only if they are good
	err                error  // of one that did not say
	refused            error  // it can be nobody's
}

func newRenewal(s *Stores, grants []driver.Grant) *renewal {
	r := &renewal{
		stores: s, ballots: make([]*Ballot, len(grants)), lives: make([]time.Duration, len(grants)),
		counts: make([]renewCount, len(grants)), sent: s.Now(),
	}
	for i := range grants {
		r.ballots[i], r.lives[i] = s.inForce(&grants[i]), grants[i].TTL
		c := &r.counts[i]
		r.ballots[i].prolong(r.lives[i])
		c.refused = driver.Refused(driver.CheckOwner(grants[i].Owner))
		c.say = r.ballots[i].withSay()
		for _, has := range c.say {
			if has {
				c.left++
			}
		}
		c.mute = len(s.Nodes) - c.left
	}
	return r
}

// withSay returns the nodes whose silence means something: not that of those who did not answer before, unless it is
// all that may have the grant; nor, where any node keeps others out, what those say who have never had it.
func (b *Ballot) withSay() []bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	say, present := make([]bool, len(b.votes)), false
	for i, n := range b.stores.Nodes {
		has := !b.stores.rules.OnlyPresent || b.votes[i].state != none
		if say[i] = has && (!b.stores.rules.OnlyPresent || n.IsPresent()); say[i] {
			present = true
		}
	}
	for i := range say {
		say[i] = say[i] || !present && b.votes[i].state != none
	}
	return say
}

// renewAt renews at one node what it may have. It returns an error for each grant.
func (r *renewal) renewAt(ctx context.Context, n *Node) []error {
	errs := make([]error, len(r.ballots))
	grants := make([]driver.Grant, 0, len(r.ballots))
	at := make([]int, 0, len(r.ballots))
	for i, b := range r.ballots {
		g, may := b.at(n, r.lives[i])
		if errs[i] = driver.ErrLost; may {
			b.mayLive(r.lives[i]) // it may arrive, whatever becomes of the answer
			grants, at = append(grants, g), append(at, i)
		}
	}
	if len(grants) == 0 {
		return errs
	}
	for j, err := range n.Backend.Renew(ctx, grants) {
		i := at[j]
		errs[i] = err
		n.Heard(err)
		r.ballots[i].renewed(n, err, r.lives[i])
		r.ballots[i].keepCut(ctx, n, err, r.lives[i])
	}
	return errs
}

// renewed records what a node says of its vote.
func (b *Ballot) renewed(n *Node, err error, life time.Duration) {
	switch {
	case err == nil:
		b.mayLive(life)
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.votes[n.index].state == unsure {
			b.votes[n.index].state = given
		}
	case errors.Is(err, driver.ErrLost):
		b.lose(n)
	}
}

// keepCut sees to it that a grant which is to end soon does so at a node, whatever has become of a renewal there: it
// may be one that is late, or the node may not have heard of the end.
func (b *Ballot) keepCut(ctx context.Context, n *Node, err error, life time.Duration) {
	now := b.lifeNow()
	switch {
	case errors.Is(err, driver.ErrLost) || now >= b.lifeAskedFor():
	case now < life:
		b.cutAgain(ctx, n, now)
		if err != nil {
			b.oweEnd(n, now) // the longer one may come still
		}
	case err != nil:
		b.oweEnd(n, now)
	}
}

// cutAgain has what a node has end in time.
func (b *Ballot) cutAgain(ctx context.Context, n *Node, life time.Duration) {
	g, may := b.at(n, life)
	if !may {
		return
	}
	if err := n.Backend.Renew(ctx, []driver.Grant{g})[0]; err != nil && !errors.Is(err, driver.ErrLost) {
		b.oweEnd(n, life)
	}
}

func (r *renewal) add(n *Node, errs []error) {
	for i, err := range errs {
		c := &r.counts[i]
		say := c.say[n.index]
		if say {
			c.left--
		} else {
			c.mute--
		}
		switch {
		case err == nil:
			c.kept++
		case say && !errors.Is(err, driver.ErrLost):
			c.unsure++
			c.err = err
		}
	}
}

// decided reports whether what is still to come changes nothing.
func (r *renewal) decided() bool {
	keep := r.stores.rules.Keep
	for i := range r.counts {
		if c := &r.counts[i]; c.kept < keep && c.kept+c.unsure+c.left+c.mute >= keep {
			return false
		}
	}
	return true
}

// allHaveSaid reports whether all have answered whose silence means something: the others are waited for a moment.
func (r *renewal) allHaveSaid() bool {
	for i := range r.counts {
		if r.counts[i].left > 0 {
			return false
		}
	}
	return true
}

// results says what became of each grant; late is why no more answers are waited for.
func (r *renewal) results(late error) []error {
	errs := make([]error, len(r.counts))
	for i := range r.counts {
		errs[i] = r.counts[i].result(r.stores.rules.Keep, late)
	}
	return errs
}

func (c *renewCount) result(keep int, late error) error {
	switch {
	case c.refused != nil:
		return c.refused
	case c.kept >= keep:
		return nil
	case c.kept+c.unsure+c.left < keep:
		return driver.ErrLost
	case c.err != nil:
		return fmt.Errorf("renewed at %d nodes, %d are needed: %w", c.kept, keep, c.err)
	default:
		return fmt.Errorf("renewed at %d nodes, %d are needed: %w", c.kept, keep, late)
	}
}

// seekMissing does what the counts entail, and asks for the votes that grants lack when all nodes have answered, or
// those that do not have had their time: who has forgotten one may say so last.
func (r *renewal) seekMissing(answered <-chan struct{}) {
	kept := r.confirmOrGiveBack()
	rest := time.NewTimer(restTime)
	defer rest.Stop()
	select {
	case <-answered:
	case <-rest.C:
	case <-r.stores.background.Done():
		return
	}
	for _, b := range kept {
		b.seekAgain()
	}
}

// confirmOrGiveBack returns those that are kept by enough nodes: they have been kept all the time, and nobody else can
// have had the lock, whatever a node has forgotten.
func (r *renewal) confirmOrGiveBack() (kept []*Ballot) {
	keep := r.stores.rules.Keep
	for i, b := range r.ballots {
		_, won := b.Won()
		switch c := &r.counts[i]; {
		case c.kept >= keep:
			b.confirm(r.sent + r.lives[i])
			kept = append(kept, b)
		case won && c.kept+c.unsure+c.left < keep && !b.isOver(): // it is lost: what is left of it keeps others out
			b.GiveBack(r.stores.background)
		}
	}
	return kept
}
