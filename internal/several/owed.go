package several

import (
	"errors"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// owed are the releases that a node has not confirmed, or may have come to before what they were to undo. They are
// sent, one after the other, until it answers, or what was to be released has run out.
type owed struct {
	mu    sync.Mutex
	debts []*debt          // the oldest first
	of    map[string]*debt // by owner
	idle  chan struct{}    // closed when all are paid; nil while there are none
}

// debt is one of them.
type debt struct {
	grant driver.Grant
	until time.Duration
	times int // how many answers it takes
}

const (
	mostOwed   = 1 << 14 // of a node; what is more runs out by itself
	firstPause = 50 * time.Millisecond
	longPause  = 500 * time.Millisecond
)

// owe records that a vote may not have been given back.
func (b *Ballot) owe(n *Node) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.debt(n)
	if b.votes[n.index].state == unsure {
		d.times++ // the first answer may come before what is to be undone
	}
	n.owed.add(n, d)
}

// debt is the release of what a node may have. b.mu is held.
func (b *Ballot) debt(n *Node) *debt {
	g := b.votes[n.index].grant
	if g.Owner == "" {
		g = b.grant
		g.Handle = nil
	}
	return &debt{grant: g, until: b.until, times: 1}
}

func (o *owed) add(n *Node, d *debt) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if same := o.of[d.grant.Owner]; same != nil {
		same.times = max(same.times, d.times)
		return
	}
	if len(o.debts) == mostOwed {
		o.drop()
	}
	if o.idle == nil {
		o.of, o.idle = make(map[string]*debt), make(chan struct{})
		n.stores.work.Go(func() { o.work(n) })
	}
	o.debts, o.of[d.grant.Owner] = append(o.debts, d), d
}

// work releases what is owed until nothing is.
func (o *owed) work(n *Node) {
	pause := firstPause
	for d := o.first(); d != nil; d = o.first() {
		if !sleep.For(n.stores.background, pause) {
			return
		}
		now := n.stores.Now()
		if now >= d.until {
			o.forgive(d)
			continue
		}
		_, err := n.Backend.Release(n.stores.Limit.Present(now), d.grant)
		n.Heard(err)
		if err != nil && !errors.Is(err, driver.ErrLost) && !errors.Is(err, driver.ErrRefused) {
			pause = min(max(2*pause, firstPause), longPause)
			continue
		}
		if pause = 0; !o.paid(d) {
			pause = firstPause
		}
	}
}

// first returns the oldest debt; nil if there is none, and the work is over.
func (o *owed) first() *debt {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.debts) > 0 {
		return o.debts[0]
	}
	close(o.idle)
	o.debts, o.of, o.idle = nil, nil, nil
	return nil
}

// paid records an answer to the release of a debt. It reports whether that was the last it takes.
func (o *owed) paid(d *debt) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if d.times--; d.times > 0 {
		return false
	}
	o.remove(d)
	return true
}

// forgive gives a debt up that has run out.
func (o *owed) forgive(d *debt) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.remove(d)
}

// remove drops a debt, unless that was done meanwhile. o.mu is held.
func (o *owed) remove(d *debt) {
	if len(o.debts) > 0 && o.debts[0] == d {
		o.drop()
	}
}

// drop drops the oldest debt. o.mu is held.
func (o *owed) drop() {
	delete(o.of, o.debts[0].grant.Owner)
	o.debts[0] = nil
	o.debts = o.debts[1:]
}

// whenPaid returns what tells that nothing is owed any more, nil if nothing is.
func (o *owed) whenPaid() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.idle
}

// lastChance is how long is waited for what is given back when the stores are closed.
const lastChance = 150 * time.Millisecond

// awaitReleases waits for what is being given back, and for what is owed to nodes, but not for long.
func (s *Stores) awaitReleases() {
	enough := time.NewTimer(lastChance)
	defer enough.Stop()
	await := func(end <-chan struct{}) bool {
		if end == nil {
			return true
		}
		select {
		case <-end:
			return true
		case <-enough.C:
			return false
		}
	}
	if !await(s.releases.whenEnded()) {
		return
	}
	for _, n := range s.Nodes {
		if !await(n.owed.whenPaid()) {
			return
		}
	}
}
