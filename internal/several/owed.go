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
	mu      sync.Mutex
	debts   []debt // the oldest first
	working bool
}

// debt is one of them.
type debt struct {
	grant driver.Grant
	until time.Duration
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
	n.owed.add(n, b.debt(n))
}

// debt is the release of what a node may have. b.mu is held.
func (b *Ballot) debt(n *Node) debt {
	g := b.votes[n.index].grant
	if g.Owner == "" {
		g = b.grant
		g.Handle = nil
	}
	return debt{grant: g, until: b.until}
}

func (o *owed) add(n *Node, d debt) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.debts) == mostOwed {
		o.debts = o.debts[1:]
	}
	if o.debts = append(o.debts, d); !o.working {
		o.working = true
		n.stores.work.Go(func() { o.work(n) })
	}
}

// work releases what is owed until nothing is.
func (o *owed) work(n *Node) {
	pause := firstPause
	for d, more := o.first(); more; d, more = o.first() {
		if !sleep.For(n.stores.background, pause) {
			return
		}
		now := n.stores.Now()
		if now >= d.until {
			o.drop()
			continue
		}
		_, err := n.Backend.Release(n.stores.Limit.Present(now), d.grant)
		n.Heard(err)
		if err != nil && !errors.Is(err, driver.ErrLost) && !errors.Is(err, driver.ErrRefused) {
			pause = min(2*pause, longPause)
			continue
		}
		pause = 0
		o.drop()
	}
}

// first returns the oldest debt. If there is none, the work is over.
func (o *owed) first() (d debt, more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.debts) == 0 {
		o.debts, o.working = nil, false
		return debt{}, false
	}
	return o.debts[0], true
}

func (o *owed) drop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.debts = o.debts[1:]
}
