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
	later []*debt          // those that are released once more, when they are due
	of    map[string]*debt // by owner
	busy  bool             // somebody pays them
}

// debt is one of them.
type debt struct {
	grant driver.Grant
	until time.Duration
	times int           // how many answers it takes
	due   time.Duration // when to ask for the next one
}

// What is to be undone may come after the first answers: a packet that was lost is sent once more a quarter of a second
// later, and once more after twice that time. So it is released that often, with ever longer pauses.
const lateTimes = 3

func pauseBefore(timesLeft int) time.Duration {
	return [...]time.Duration{1: time.Second, 2: 250 * time.Millisecond}[min(timesLeft, 2)]
}

const (
	mostOwed  = 1 << 14 // of a node; what is more runs out by itself
	firstDebt = 50 * time.Millisecond
	longPause = 500 * time.Millisecond
)

// owe records that a vote may not have been given back.
func (b *Ballot) owe(n *Node) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.debt(n)
	if b.votes[n.index].state == unsure {
		d.times += lateTimes // the first answer may come before what is to be undone
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
		same.times, same.until = max(same.times, d.times), max(same.until, d.until)
		return
	}
	if len(o.debts)+len(o.later) >= mostOwed {
		o.remove(o.nextDebt())
	}
	if o.of == nil {
		o.of = make(map[string]*debt)
	}
	if !o.busy {
		o.busy = true
		n.stores.work.Go(func() { o.payAll(n) })
	}
	o.of[d.grant.Owner] = d
	if d.due > 0 {
		o.later = append(o.later, d)
	} else {
		o.debts = append(o.debts, d)
	}
}

// payAll releases what is owed until nothing is.
func (o *owed) payAll(n *Node) {
	pause := firstDebt
	for d, until := o.takeUp(); d != nil; d, until = o.takeUp() {
		if left := d.due - n.stores.Now(); left > 0 { // there may be others before that
			pause = min(left, firstDebt)
		}
		if !sleep.For(n.stores.background, pause) {
			return
		}
		now := n.stores.Now()
		if now < d.due {
			continue
		}
		if now >= until {
			o.forgive(d)
			continue
		}
		_, err := n.Backend.Release(n.stores.Limit.Present(now), d.grant)
		n.Heard(err)
		if err != nil && !errors.Is(err, driver.ErrLost) && !errors.Is(err, driver.ErrRefused) {
			pause = min(max(2*pause, firstDebt), longPause)
			continue
		}
		pause = 0
		o.paid(d, n.stores.Now())
	}
}

// takeUp returns the debt to pay next, and until when it matters; nil if there is none, and the work is over.
func (o *owed) takeUp() (d *debt, until time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if d := o.nextDebt(); d != nil {
		return d, d.until
	}
	o.debts, o.later, o.of, o.busy = nil, nil, nil, false
	return nil, 0
}

// nextDebt returns the debt to pay next, nil if there is none. o.mu is held.
func (o *owed) nextDebt() *debt {
	switch {
	case len(o.debts) > 0:
		return o.debts[0]
	case len(o.later) > 0:
		return o.later[0]
	default:
		return nil
	}
}

// paid records an answer to the release of a debt. If it takes more, it is asked for later.
func (o *owed) paid(d *debt, now time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.remove(d) {
		return
	}
	if d.times--; d.times > 0 {
		d.due = now + pauseBefore(d.times)
		o.later, o.of[d.grant.Owner] = append(o.later, d), d
	}
}

// forgive gives a debt up that has run out.
func (o *owed) forgive(d *debt) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.remove(d)
}

// remove drops a debt that was the next one, unless that was done meanwhile. o.mu is held.
func (o *owed) remove(d *debt) bool {
	for _, list := range []*[]*debt{&o.debts, &o.later} {
		if len(*list) > 0 && (*list)[0] == d {
			delete(o.of, d.grant.Owner)
			(*list)[0] = nil
			*list = (*list)[1:]
			return true
		}
	}
	return false
}
