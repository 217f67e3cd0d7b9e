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
	b.shake()
	if b.lose(n) || s.rules.TakenAtOnce && b.isHeld() {
		s.tellOwner(m)
		s.work.Go(func() { b.GiveBack(s.background) }) // a vote may be on its way that was missing
	}
}
