package several

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Renew implements [driver.Backend]. A grant goes on if so many nodes have had it all the time that nobody else
// can have had it meanwhile. Then the votes that are missing are asked for once more, in the background.
func (s *Stores) Renew(ctx context.Context, grants []driver.Grant) []error {
	r := &renewal{
		stores: s, ballots: make([]*Ballot, len(grants)), lives: make([]time.Duration, len(grants)),
		counts: make([]renewCount, len(grants)), mute: s.withoutSay(), sent: s.Now(),
	}
	for i := range grants {
		r.ballots[i], r.lives[i] = s.inForce(&grants[i]), grants[i].TTL
		r.counts[i].left = len(s.Nodes) - len(r.mute)
		r.counts[i].refused = driver.Refused(driver.CheckOwner(grants[i].Owner))
	}
	answers := Gather(s, s.Nodes, nil, r.renewAt)
	for range s.Nodes {
		select {
		case a := <-answers.C:
			r.add(a.Node, a.Value)
		case <-ctx.Done():
			return r.results(ctx.Err())
		}
		if r.decided() {
			break
		}
	}
	s.work.Go(func() {
		<-answers.Ended
		r.seekMissing()
	})
	return r.results(nil)
}

// withoutSay returns the nodes whose silence means nothing: none if it is all of them.
func (s *Stores) withoutSay() map[*Node]bool {
	mute := make(map[*Node]bool)
	if s.rules.OnlyPresent {
		for _, n := range s.Nodes {
			if !n.IsPresent() {
				mute[n] = true
			}
		}
	}
	if len(mute) == len(s.Nodes) {
		return nil
	}
	return mute
}

// renewal is one of several grants, at all nodes.
type renewal struct {
	stores  *Stores
	ballots []*Ballot
	lives   []time.Duration
	counts  []renewCount
	mute    map[*Node]bool // nodes that count only if they have the grant
	sent    time.Duration
}

// renewCount counts what nodes say of a grant.
type renewCount struct {
	left, kept, unsure int
	err                error // of one that did not say
	refused            error // it can be nobody's
}

// renewAt renews at one node what it may have. It returns an error for each grant.
func (r *renewal) renewAt(ctx context.Context, n *Node) []error {
	errs := make([]error, len(r.ballots))
	grants := make([]driver.Grant, 0, len(r.ballots))
	at := make([]int, 0, len(r.ballots))
	for i, b := range r.ballots {
		g, may := b.at(n, r.lives[i])
		if errs[i] = driver.ErrLost; may {
			b.prolong(r.lives[i]) // it may arrive, whatever becomes of the answer
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
	}
	return errs
}

// renewed records what a node says of its vote.
func (b *Ballot) renewed(n *Node, err error, life time.Duration) {
	switch {
	case err == nil:
		b.prolong(life)
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.votes[n.index].state == unsure {
			b.votes[n.index].state = given
		}
	case errors.Is(err, driver.ErrLost):
		b.lose(n)
	}
}

func (r *renewal) add(n *Node, errs []error) {
	for i, err := range errs {
		c := &r.counts[i]
		if !r.mute[n] {
			c.left--
		}
		switch {
		case err == nil:
			c.kept++
		case r.mute[n]:
		case !errors.Is(err, driver.ErrLost):
			c.unsure++
			c.err = err
		}
	}
}

// decided reports whether what is still to come changes nothing.
func (r *renewal) decided() bool {
	keep := r.stores.rules.Keep
	for i := range r.counts {
		if c := &r.counts[i]; c.kept < keep && c.kept+c.unsure+c.left >= keep {
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

// seekMissing asks for the votes that the grants lack. Those that are kept by enough other nodes have been kept all
// the time: nobody else can have had the lock, whatever a node has forgotten.
func (r *renewal) seekMissing() {
	keep := r.stores.rules.Keep
	for i, b := range r.ballots {
		_, won := b.Won()
		switch c := &r.counts[i]; {
		case c.kept >= keep:
			b.confirm(r.sent + r.lives[i])
			b.seekAgain()
		case won && c.kept+c.unsure+c.left < keep: // it is lost: what is left of it keeps others out
			b.GiveBack(r.stores.background)
		}
	}
}
