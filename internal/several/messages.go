package several

import "github.com/bedrock-go/bedrock/lock/driver"

// Notify implements [driver.Notifier]: a grant was taken away when too few nodes are left that have it. That it is
// wanted is told of none, for none lingers.
func (s *Stores) Notify(tell func(driver.Message)) {
	s.tell = tell
	for _, n := range s.Nodes {
		if notifier, ok := n.Backend.(driver.Notifier); ok {
			notifier.Notify(func(m driver.Message) { s.hear(n, m) })
		}
	}
}

func (s *Stores) hear(n *Node, m driver.Message) {
	if m.Kind == driver.Asked {
		s.hearPlea(m)
	}
	if m.Kind != driver.Taken {
		return
	}
	b := s.ballotOf(m.Owner)
	if b == nil {
		return
	}
	if few := b.takenAt(n, m.Why); few || s.rules.TakenAtOnce && b.isHeld() {
		s.endTaken(b)
	}
}

// endTaken tells the holder that its grant was taken away, or why it has ended at the last node. A vote may be on its
// way that was missing.
func (s *Stores) endTaken(b *Ballot) {
	b.mu.Lock()
	why := b.takenWhy
	b.mu.Unlock()
	s.tellOwner(driver.Message{Name: b.grant.Name, Owner: b.grant.Owner, Kind: driver.Taken, Why: why})
	s.work.Go(func() { b.GiveBack(s.background) })
}

// takenAt records that a node has taken its vote away, by force or as it says, and reports whether so few are left that
// they keep nobody out. The answer to a request that is under way may be older than that.
func (b *Ballot) takenAt(n *Node, why error) (few bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.takenWhy = why
	b.shaken = b.stores.Now() + shakenTime
	b.votes[n.index].taken = b.votes[n.index].busy
	b.early = b.early || !b.won
	return b.dropVote(n)
}

// wasTakenEarly reports whether what has become a grant was taken away before: by any node, where one is enough, or by
// so many that those left keep nobody out.
func (b *Ballot) wasTakenEarly() bool {
	b.mu.Lock()
	early := b.early
	b.mu.Unlock()
	if !early || b.stores.rules.TakenAtOnce {
		return early
	}
	_, _, surplus := b.Spread()
	return surplus < 0
}
