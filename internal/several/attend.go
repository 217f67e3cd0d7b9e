package several

import (
	"context"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// attendAgain is the pause before a node is attended again that could not be.
const attendAgain = 5 * time.Second

// attendants are those who are told of the grants of a client.
type attendants struct {
	mu  sync.Mutex
	all map[string]map[*attendant]struct{}
}

// attendant is one of them.
type attendant struct {
	client string
	tell   func(driver.Message)

	mu    sync.Mutex
	stops []func() // of the nodes that tell
	over  bool
}

// Attend tells what others do to the grants of a client, as far as they were asked for here. A node that is away is
// attended as soon as it is back.
func (s *Stores) Attend(client string, tell func(driver.Message)) (stop func(), err error) {
	var able []*Node
	for _, n := range s.Nodes {
		if _, ok := n.Backend.(driver.Attender); ok {
			able = append(able, n)
		}
	}
	if len(able) == 0 {
		return nil, driver.ErrUnsupported
	}
	a := &attendant{client: client, tell: tell}
	s.attendants.add(a)
	ctx, cancel := context.WithCancel(s.background)
	for _, n := range able {
		s.Background(func() { s.attendNode(ctx, n, a) })
	}
	return func() {
		cancel()
		s.attendants.remove(a)
		a.endAll()
	}, nil
}

// attendNode begins to attend one node, however often it has to try.
func (s *Stores) attendNode(ctx context.Context, n *Node, a *attendant) {
	for {
		stop, err := n.Backend.(driver.Attender).Attend(ctx, a.client, func(m driver.Message) { s.hear(n, m) })
		if err == nil {
			a.addStop(stop)
			return
		}
		if !sleep.For(ctx, attendAgain) {
			return
		}
	}
}

// addStop keeps what ends the attending of a node, or ends it if that is over.
func (a *attendant) addStop(stop func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		stop()
		return
	}
	a.stops = append(a.stops, stop)
}

func (a *attendant) endAll() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	for _, stop := range a.stops {
		stop()
	}
}

func (s *attendants) add(a *attendant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = make(map[string]map[*attendant]struct{})
	}
	if s.all[a.client] == nil {
		s.all[a.client] = make(map[*attendant]struct{}, 1)
	}
	s.all[a.client][a] = struct{}{}
}

func (s *attendants) remove(a *attendant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all[a.client], a)
	if len(s.all[a.client]) == 0 {
		delete(s.all, a.client)
	}
}

// tellOwner tells whoever wants to be told of a grant.
func (s *Stores) tellOwner(m driver.Message) {
	if s.tell != nil {
		s.tell(m)
	}
	s.attendants.mu.Lock()
	defer s.attendants.mu.Unlock()
	for a := range s.attendants.all[driver.ClientOf(m.Owner)] {
		a.tell(m)
	}
}
