package several

import (
	"context"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// pleaded is what a node says of a plea.
type pleaded struct {
	told int
	err  error
}

// Plead asks the holder of a name by all nodes; so many must have answered. It returns how many were told, as the node
// says that has told most.
func (s *Stores) Plead(ctx context.Context, name string, p driver.Plea, least int) (told int, err error) {
	errOf := func(a pleaded) error { return a.err }
	answers := each(ctx, s, least, 0, errOf, func(ctx context.Context, n *Node) pleaded {
		pleader, ok := n.Backend.(driver.Pleader)
		if !ok {
			return pleaded{err: driver.ErrUnsupported}
		}
		told, err := pleader.Plead(ctx, name, p)
		return pleaded{told, err}
	})
	if err := enough(ctx, answers, least, errOf); err != nil {
		return 0, err
	}
	for _, a := range answers {
		told = max(told, a.Value.told)
	}
	return told, nil
}

// samePlea is for how long the same plea is not told again: every node tells of it.
const samePlea = 10 * time.Second

// mostPleas is how many pleas are told apart that come at once.
const mostPleas = 8

// heardPlea is a plea, and when it was heard first.
type heardPlea struct {
	driver.Plea

	at time.Time
}

// hearPlea tells the holder, once.
func (s *Stores) hearPlea(m driver.Message) {
	if b := s.ballotOf(m.Owner); b != nil && b.recordPlea(m.Plea) {
		s.tellOwner(m)
	}
}

// recordPlea records a plea, and reports whether to tell the holder of it: it is none that was heard from another node.
// What was asked while votes are on their way is kept until there is a holder.
func (b *Ballot) recordPlea(p driver.Plea) (tell bool) {
	heard := heardPlea{p, time.Now()}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pleas = slices.DeleteFunc(b.pleas, func(h heardPlea) bool { return heard.at.Sub(h.at) >= samePlea })
	if b.over || slices.ContainsFunc(b.pleas, func(h heardPlea) bool { return h.Plea == p }) {
		return false
	}
	if len(b.pleas) == mostPleas {
		b.pleas = slices.Delete(b.pleas, 0, 1)
	}
	b.pleas = append(b.pleas, heard)
	if !b.won {
		b.unheard = &heard
	}
	return b.won
}

// tellUnheard tells the holder what was asked last before it was one, with the time that is left.
func (b *Ballot) tellUnheard() {
	b.mu.Lock()
	early := b.unheard
	b.unheard = nil
	b.mu.Unlock()
	if early == nil {
		return
	}
	p := early.Plea
	if p.Within > 0 {
		p.Within = max(p.Within-time.Since(early.at), 1) // 0 is for as soon as it can be, which was not said
	}
	b.stores.tellOwner(driver.Message{Name: b.grant.Name, Owner: b.grant.Owner, Kind: driver.Asked, Plea: p})
}
