package lock

import "context"

// What several may have at once, they have aside: who has it leaves the front of the queue to the next one
// at once, who may have it, too.

// joinReaders gives the caller a lease of a grant by which others of this process read, if it wants the same
// and nobody waits: then it need not ask the backend. That is not done for long, since writers of other
// processes are not heard of meanwhile.
func (t *queues) joinReaders(parent context.Context, w *want) *Lease {
	p := t.partOf(w.name)
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.byName[w.name]
	if q == nil || p.closed || q.fronted && !q.isRead() {
		return nil
	}
	now := t.client.now()
	for h := q.holds.first; h != nil; h = h.beside {
		if h.isReadBy(w) && !h.expired(now) && now-h.since < t.client.opts.HandOff.Time {
			return h.lease.joinGrant(parent)
		}
	}
	return nil
}

// isReadBy reports whether others read by that grant who wanted the same, and who wants it may join them. part.mu is
// held.
func (h *hold) isReadBy(w *want) bool {
	same := *h.want == *w || h.lease.reads && h.serves(w)
	return same && h.state == possessed && !h.isAsked() && !h.late.Load() && h.q.client.opts.HandOff.Count > 1
}

// joinGrant returns one more lease of a grant that several share. part.mu is held.
func (l *Lease) joinGrant(parent context.Context) *Lease {
	inner := l.enterAgain(parent)
	inner.joined = true
	return inner
}

// stepAside leaves the front to those behind, when the grant is one of several. Readers who want the same have
// it, too.
func (q *queue) stepAside(h *hold) {
	if !h.aside {
		return
	}
	q.part.mu.Lock()
	if h.want.joinable() && h.state == possessed && !h.isAsked() && q.client.opts.HandOff.Count > 1 {
		h.joinWaiting()
	}
	q.moveOn(nil)
}

// removeAside takes a hold out that stood aside, and ends the queue if it was the last thing there.
func (q *queue) removeAside(h *hold) {
	q.part.mu.Lock()
	q.holds.remove(h)
	unused := q.endUnused()
	if unused {
		q.keepMemory(nil)
	}
	q.part.mu.Unlock()
	if unused {
		q.client.work.Done()
	}
}

// holdOf returns what an owner has of a name; nil if it has nothing. part.mu is held.
func (p *part) holdOf(name, owner string) *hold {
	return p.findHold(name, func(here *holds) *hold { return here.ofOwner(owner) })
}

// holdSeenAs is holdOf for an owner as others see it. part.mu is held.
func (p *part) holdSeenAs(name, owner string) *hold {
	return p.findHold(name, func(here *holds) *hold { return here.seenAs(owner) })
}

// findHold looks for a hold of a name in all its queues. part.mu is held.
func (p *part) findHold(name string, find func(here *holds) *hold) *hold {
	if q := p.byName[name]; q != nil {
		if h := find(&q.holds); h != nil {
			return h
		}
	}
	for _, q := range p.besides[name] {
		if h := find(&q.holds); h != nil {
			return h
		}
	}
	return nil
}

// queueAsking returns the queue of the name whose front asks under that owner; nil if none does. part.mu is held.
func (p *part) queueAsking(name, owner string) *queue {
	if q := p.byName[name]; q != nil && q.asksAs(owner) {
		return q
	}
	for _, q := range p.besides[name] {
		if q.asksAs(owner) {
			return q
		}
	}
	return nil
}
