package several

import (
	"context"
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

// hearPlea tells the holder, once.
func (s *Stores) hearPlea(m driver.Message) {
	if b := s.ballotOf(m.Owner); b != nil && b.isAsked(m.Plea) {
		s.tellOwner(m)
	}
}

// isAsked reports whether the ballot is a grant that has not been asked for like that before.
func (b *Ballot) isAsked(p driver.Plea) bool {
	now := b.stores.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.won || b.over || b.plea == p && now-b.pleaAt < samePlea && b.pleaAt > 0 {
		return false
	}
	b.plea, b.pleaAt = p, max(now, 1)
	return true
}
