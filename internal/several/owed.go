package several

import (
	"container/heap"
	"errors"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// owed are the releases that a node has not confirmed, or may have come to before what they were to undo; and those of
// grants of which it may not have heard that they end soon. They are sent, one after the other, until it answers, or
// what was to be released has run out.
type owed struct {
	mu     sync.Mutex
	of     map[string]*debt // by owner
	queue  debts
	busy   bool          // somebody pays them
	sooner chan struct{} // one slot: there is one that is due before those that were there
}

// debt is one of them.
type debt struct {
	grant driver.Grant
	until time.Duration // after that it has run out
	times int           // how many answers it takes
	due   time.Duration // when to ask for the next one
	fails int           // how often it was not done, by a node that answers
	index int           // in the queue
}

// debts are in the order in which they are due.
type debts []*debt

// Len implements [heap.Interface].
func (d debts) Len() int { return len(d) }

// Less implements [heap.Interface].
func (d debts) Less(i, j int) bool { return d[i].due < d[j].due }

// Swap implements [heap.Interface].
func (d debts) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].index, d[j].index = i, j
}

// Push implements [heap.Interface].
func (d *debts) Push(x any) {
	added := x.(*debt) //nolint:forcetypeassert // nothing else is pushed
	added.index = len(*d)
	*d = append(*d, added)
}

// Pop implements [heap.Interface].
func (d *debts) Pop() any {
	last := len(*d) - 1
	gone := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	return gone
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
	if v := &b.votes[n.index]; v.state == unsure || v.late {
		d.times += lateTimes // the first answer may come before what is to be undone
	}
	n.owed.add(n, d)
}

// oweEnd records that a node may not know that a grant is over after that time.
func (b *Ballot) oweEnd(n *Node, life time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.debt(n)
	d.due = b.stores.Now() + life
	n.owed.add(n, d)
}

// debt is the release of what a node may have. b.mu is held.
func (b *Ballot) debt(n *Node) *debt {
	g := b.votes[n.index].grant
	if g.Owner == "" {
		g = b.grant
		g.Handle = nil
	}
	return &debt{grant: g, until: b.until, times: 1, due: b.stores.Now() + firstDebt}
}

func (o *owed) add(n *Node, d *debt) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if same := o.of[d.grant.Owner]; same != nil {
		same.times, same.until = max(same.times, d.times), max(same.until, d.until)
		if d.due < same.due {
			same.due = d.due
			heap.Fix(&o.queue, same.index)
			o.tellSooner()
		}
		return
	}
	if len(o.queue) >= mostOwed {
		o.remove(o.queue[0])
	}
	if o.of == nil {
		o.of, o.sooner = make(map[string]*debt), make(chan struct{}, 1)
	}
	o.of[d.grant.Owner] = d
	heap.Push(&o.queue, d)
	if d.index == 0 {
		o.tellSooner()
	}
	if !o.busy {
		o.busy = true
		n.stores.work.Go(func() { o.payAll(n) })
	}
}

func (o *owed) tellSooner() {
	select {
	case o.sooner <- struct{}{}:
	default:
	}
}

// payAll releases what is owed until nothing is.
func (o *owed) payAll(n *Node) {
	pause := time.Duration(0)
	for d := o.awaitDue(n, pause); d != nil; d = o.awaitDue(n, pause) {
		now := n.stores.Now()
		if o.forgiven(d, now) {
			continue
		}
		_, err := n.Backend.Release(n.stores.Limit.Present(now), d.grant)
		n.Heard(err)
		if err == nil || errors.Is(err, driver.ErrLost) || errors.Is(err, driver.ErrRefused) {
			pause = 0
			o.paid(d, n.stores.Now())
			continue
		}
		pause = min(max(2*pause, firstDebt), longPause)
		o.putOff(d, n.stores.Now()) // others may fare better
	}
}

// awaitDue waits for so long, and then until a debt is due, and returns that; nil if there is none any more, and the
// work is over.
func (o *owed) awaitDue(n *Node, pause time.Duration) *debt {
	if pause > 0 && !sleep.For(n.stores.background, pause) {
		return nil
	}
	for {
		d, left := o.nextDebt(n.stores.Now())
		if d == nil || left <= 0 {
			return d
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-o.sooner:
			timer.Stop()
		case <-n.stores.background.Done():
			timer.Stop()
			return nil
		}
	}
}

// nextDebt returns the debt to pay next, and in what time; nil if there is none, and the work is over.
func (o *owed) nextDebt(now time.Duration) (d *debt, left time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		o.of, o.queue, o.busy = nil, nil, false
		return nil, 0
	}
	return o.queue[0], o.queue[0].due - now
}

// forgiven gives a debt up that has run out.
func (o *owed) forgiven(d *debt, now time.Duration) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now < d.until {
		return false
	}
	o.remove(d)
	return true
}

// paid records an answer to the release of a debt. If it takes more, it is asked for later.
func (o *owed) paid(d *debt, now time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if d.times--; d.times > 0 {
		o.delay(d, now+pauseBefore(d.times))
	} else {
		o.remove(d)
	}
}

// putOff records that a debt could not be paid.
func (o *owed) putOff(d *debt, now time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.delay(d, now+min(firstDebt<<min(d.fails, 10), longPause))
	d.fails++
}

// delay sets when a debt is due, unless it was dropped meanwhile. o.mu is held.
func (o *owed) delay(d *debt, due time.Duration) {
	if o.of[d.grant.Owner] == d {
		d.due = due
		heap.Fix(&o.queue, d.index)
	}
}

// remove drops a debt, unless that was done meanwhile. o.mu is held.
func (o *owed) remove(d *debt) {
	if o.of[d.grant.Owner] == d {
		delete(o.of, d.grant.Owner)
		heap.Remove(&o.queue, d.index)
	}
}
