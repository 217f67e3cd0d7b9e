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
	busy  bool             // somebody pays them
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
		o.dropOldest()
	}
	if o.of == nil {
		o.of = make(map[string]*debt)
	}
	if !o.busy {
		o.busy = true
		n.stores.work.Go(func() { o.payAll(n) })
	}
	o.debts, o.of[d.grant.Owner] = append(o.debts, d), d
}

// payAll releases what is owed until nothing is.
func (o *owed) payAll(n *Node) {
	pause := firstPause
	for d := o.oldest(); d != nil; d = o.oldest() {
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

// oldest returns the oldest debt; nil if there is none, and the work is over.
func (o *owed) oldest() *debt {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.debts) > 0 {
		return o.debts[0]
	}
	o.debts, o.of, o.busy = nil, nil, false
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
		o.dropOldest()
	}
}

// dropOldest drops the oldest debt. o.mu is held.
func (o *owed) dropOldest() {
	delete(o.of, o.debts[0].grant.Owner)
	o.debts[0] = nil
	o.debts = o.debts[1:]
}
