package lock

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/internal/settle"
	"github.com/bedrock-go/bedrock/internal/timelimit"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// queue is the line of this process's goroutines at one name, first come, first
// served. It exists while the name is in use. One of them is at the
// front: it contends at the backend, or holds the lock; the others are parked
// until it is their turn. Who has what several may have at once stands aside.
//
// Fields are guarded by part.mu, except those after served, which are the business of
// whoever is at the front.
type queue struct {
	client   *Client
	part     *part
	name     string
	side     string // empty for the queue of the name itself: see sideOf
	kind     driver.Kind
	fair     bool          // the one who is here stands in the store's line, by itself
	fronted  bool          // somebody is at the front
	called   bool          // the call below is in use
	told     atomic.Uint32 // what was told of the owner who asks before its grant was here, by messageBit
	early    *earlyPlea    // what somebody was asked before its grant was here; nil if nobody was
	waiters  line
	holds    holds             // what is held here
	served   int32             // leases the last grant has served
	failures int32             // requests since the time of failing
	why      error             // the lock was not had when it was asked for last; nil if nothing is known
	handed   chan driver.Grant // what the store has granted unasked; made when something may be
	asks     atomic.Uint64     // the number of the owner under which the one at the front asks
	unheard  atomic.Int64      // since when the one at the front has had no answer, by the client's clock; 0: not asked

	call       timelimit.Context // of the first request
	habit      *habit            // of the name; nil where nothing lingers
	missed     uint64            // how often the client had missed something when it asked last
	watch      driver.Watch      // wakes the one at the front
	standing   *standing         // the request that stands in the store's line; nil if none does
	failing    time.Time         // since when the backend has neither granted the lock nor refused it
	silent     time.Time         // since when it has not even told why; zero if it told last
	retry      time.Time         // when to ask again after the last of them, whoever is at the front then
	listening  *listening        // a watch that is beginning
	watchAfter time.Duration     // when to try to get one again
	seen       uint64            // how many of the releases it tells of need not be looked at any more
	echoes     uint64            // how many of the own ones need not be expected any more
	echo       time.Duration     // until when one more of them may be told of
}

// waiter is a parked goroutine.
type waiter struct {
	want       *want
	ctx        context.Context //nolint:containedctx // becomes the parent of the lease's context
	turn       chan turn       // one slot: whoever gives the turn does not wait
	since      time.Time       // when it came
	prev, next *waiter
	parked     bool
}

// turn is what a waiter gets: the lock itself, the right to contend for it, or
// an error.
type turn struct {
	lease *Lease
	err   error
}

// enterQueue puts the caller into the queue of a name, or one beside it. It is at the front when the waiter is
// nil. With try it is refused rather than parked, where the lock is known to be held. Its patience counts from since.
func (t *queues) enterQueue(
	ctx context.Context, w *want, over string, try bool, since time.Time,
) (*queue, *waiter, error) {
	p := t.partOf(w.name)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, nil, opError("lock", w.name, ErrClosed)
	}
	side := t.client.sideOf(w, over, try)
	if main := p.byName[w.name]; w.fair && main != nil {
		if try && main.isVacated() { // by what has lingered: it waits until that is given back
			side = ""
		}
		main.lingering().endLinger()
	}
	key := queueKey(w.name, side)
	q := p.byName[key]
	if q == nil {
		q = t.newQueue(p, w, side)
		p.addQueue(q)
		t.client.work.Add(1)
		return q, nil, nil
	}
	switch {
	case q.kind != w.mode.Kind():
		return nil, nil, opError("lock", w.name, &driver.KindError{Found: q.kind, Wanted: w.mode.Kind()})
	case !q.fronted:
		q.fronted = true
		return q, nil, nil
	case try && !q.isVacated():
		return nil, nil, q.heldHere()
	}
	behind := &waiter{want: w, ctx: ctx, turn: make(chan turn, 1), since: since}
	q.waiters.push(behind)
	q.lingering().endLinger() // it is not what this one wants
	return q, behind, nil
}

// newQueue makes the queue of a name that is used from now on. part.mu is held.
func (t *queues) newQueue(p *part, w *want, side string) *queue {
	q := &queue{client: t.client, part: p, name: w.name, side: side, kind: w.mode.Kind(), fair: w.fair, fronted: true}
	if w.fair { // its turn is the store's business
		return q
	}
	p.forgetOldShare(w.name, t.client)
	if linger := t.client.opts.Linger; linger > 0 && q.kind == driver.Mutex {
		q.habit = p.habits.takeHabit(w.name, t.placeOf(w.name), linger, t.client.now())
	}
	return q
}

// heldHere is the refusal when another goroutine of this process is at the
// front.
func (q *queue) heldHere() error {
	if errors.Is(q.why, ErrHeld) && q.kind != driver.Mutex {
		return q.why
	}
	e := &HeldError{Name: q.name}
	if h := q.holds.first; h != nil {
		e.Owner = h.grant.Owner
	}
	return e
}

// awaitTurn parks the caller until its turn comes or ctx ends.
func (q *queue) awaitTurn(ctx context.Context, w *waiter) (turn, error) {
	select {
	case t := <-w.turn:
		return t, t.err
	case <-ctx.Done():
		return turn{}, q.leaveLine(w)
	}
}

// leaveLine takes a waiter whose context has ended out of the queue. If its turn
// came at that very moment, the next one gets it.
func (q *queue) leaveLine(w *waiter) error {
	q.part.mu.Lock()
	parked, why := w.parked, q.whyNot(w.since)
	if parked {
		q.waiters.remove(w)
	}
	q.part.mu.Unlock()
	if !parked {
		q.decline(<-w.turn)
	}
	return endedAfter(why)
}

// whyNot returns, to who came at that time, what the one at the front knows: that it holds the lock itself, or
// why it has not got it. part.mu is held.
func (q *queue) whyNot(came time.Time) error {
	if q.holds.first != nil && !q.holds.first.aside {
		return q.heldHere()
	}
	return q.unlessSilent(q.why, came)
}

// recordWhyNot records for those in the queue why the one at the front has not got the lock.
func (q *queue) recordWhyNot(err error) {
	q.part.mu.Lock()
	defer q.part.mu.Unlock()
	q.why = err
}

func (q *queue) decline(t turn) {
	switch {
	case t.lease != nil:
		q.client.work.Go(func() { q.client.unlockUnwanted(t.lease) })
	case t.err == nil:
		q.passFront(nil)
	}
}

// unlockUnwanted gives back a lease whose taker has gone, and waits for no store; so
// its outcome is told to nobody, and what could not be released is cleaned up after.
func (c *Client) unlockUnwanted(l *Lease) {
	ctx, cancel := context.WithTimeout(c.background, settle.Call)
	defer cancel()
	_ = l.hold.unlock(ctx, l)
}

// passFront gives the front of the queue to the next waiter, or ends the queue when
// there is none. The one at the front has held h, if it got that far.
func (q *queue) passFront(h *hold) {
	if h != nil && h.aside {
		q.removeAside(h)
		return
	}
	q.part.mu.Lock()
	if h != nil {
		q.served = int32(h.served())
		q.holds.remove(h)
	}
	q.moveOn(h)
}

// moveOn has the next one come to the front, or nobody. part.mu is held, and is let go.
func (q *queue) moveOn(h *hold) {
	next := q.waiters.pop()
	if next != nil {
		q.part.mu.Unlock()
		next.turn <- turn{}
		return
	}
	q.fronted, q.why = false, nil
	unused := q.endUnused()
	if unused {
		q.keepMemory(h)
	}
	left := q.leaveFront()
	q.part.mu.Unlock()
	left.endAll(q)
	if unused {
		q.client.work.Done()
	}
}

// endUnused takes the queue out of its part if nobody is there any more, and reports whether it is so. part.mu is
// held.
func (q *queue) endUnused() bool {
	if q.fronted || q.holds.first != nil {
		return false
	}
	q.part.removeQueue(q)
	return true
}

// keepMemory puts aside what is to be remembered of a queue that ends. The last one has held h, if it got that
// far. part.mu is held.
func (q *queue) keepMemory(h *hold) {
	q.endHearing()
	if q.habit == nil {
		return
	}
	now := q.client.now()
	if q.habit.enterLeave(h, now); q.watch != nil {
		q.habit.enterShared(now)
	}
	q.part.habits.keepHabit(q.habit, q.client.queues.placeOf(q.name))
}

// failPatient ends the wait of those who have been patient for as long as the one at the
// front, with its error: a backend that did not answer that one will not answer
// them. Who came later has patience left, and asks next.
func (q *queue) failPatient(err error) {
	q.part.mu.Lock()
	for w := q.waiters.first; w != nil && q.outOfPatience(w.since); w = q.waiters.first {
		q.waiters.pop()
		w.turn <- turn{err: opError("lock", q.name, err)}
	}
	q.part.mu.Unlock()
	q.passFront(nil)
}

// outOfPatience reports whether who came at that time has waited long enough for a
// backend that does not answer.
func (q *queue) outOfPatience(came time.Time) bool {
	patience := q.client.opts.Patience
	return patience == -1 || time.Since(later(came, q.failing)) >= patience
}

// endFailing forgets the requests that failed, when one has not.
func (q *queue) endFailing() {
	q.failures, q.failing, q.silent, q.retry = 0, time.Time{}, time.Time{}, time.Time{}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// dismiss ends the wait of everybody but the one at the front. part.mu is held.
func (q *queue) dismiss(err error) {
	for w := q.waiters.pop(); w != nil; w = q.waiters.pop() {
		w.turn <- turn{err: opError("lock", q.name, err)}
	}
}

// line is a first-in-first-out list of waiters that any of them can leave.
type line struct {
	first, last *waiter
	len         int
}

func (l *line) push(w *waiter) {
	w.parked, w.prev = true, l.last
	if l.last != nil {
		l.last.next = w
	} else {
		l.first = w
	}
	l.last = w
	l.len++
}

func (l *line) pop() *waiter {
	w := l.first
	if w != nil {
		l.remove(w)
	}
	return w
}

func (l *line) remove(w *waiter) {
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		l.first = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		l.last = w.prev
	}
	w.parked, w.prev, w.next = false, nil, nil
	l.len--
}
