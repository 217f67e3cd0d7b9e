package locks

import (
	"cmp"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/internal/torture/audit"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
)

// losses: nobody loses a lease while his process ran, and the store answered in time.
func (p *past) losses(r *audit.Report) {
	for _, l := range p.lost {
		if why := p.whyLost(l); why != "" {
			r.Explained["lease lost: "+why]++
			continue
		}
		r.Violate("lease lost", p.since(l.noticed), "%s: %s lost a lease of %v on a healthy store: %s", l.name,
			l.life.name, l.ttl, l.text)
	}
}

func (p *past) whyLost(l loss) string {
	from := l.good - l.ttl
	lost := func(e nemesis.Excuses) bool { return e.Loss }
	if w := p.window(l.name, from, l.noticed, 0, l.life.worker, lost); w != nil {
		return w.Kind
	}
	if l.life.stalled(from, l.noticed) > l.ttl/8 {
		return "its process did not run"
	}
	if l.answer > inTime {
		return "the store was slow"
	}
	for _, s := range p.slow {
		if s.from <= l.noticed && from <= s.to {
			return "the store was slow"
		}
	}
	return ""
}

// The bounds of waiting.
const (
	// endsBy is how soon after the end of its context a call returns.
	endsBy = 200 * time.Millisecond
	// recovery is how long after a fault all may still be at sea.
	recovery = 2 * time.Second
	// freeFor is how long a lock may stand free while somebody waits for it.
	freeFor = 1500 * time.Millisecond
	// starvedFor is how long one may wait, and pastBy how many leases others may have
	// meanwhile.
	starvedFor = 10 * time.Second
	pastBy     = 100
)

// ends: every call returns soon after its context has ended, whatever is broken.
func (p *past) ends(r *audit.Report) {
	for _, l := range p.leases {
		p.callEnds(r, l.life, "Lock "+l.name, l.ask, l.until, max(l.got, l.no))
		if l.out > 0 {
			p.callEnds(r, l.life, "Unlock "+l.name, l.out, l.outUntil, l.left)
		}
	}
	for _, life := range p.lives {
		for _, c := range life.ends {
			p.callEnds(r, life, "Stop", c.call, c.until, c.returned)
		}
	}
}

func (p *past) callEnds(r *audit.Report, l *life, what string, call, until, returned time.Duration) {
	if returned == 0 {
		if l.killed == 0 && until+recovery < p.finished {
			r.Violate("never returned", p.since(call), "%s: %s", l.name, what)
		}
		return
	}
	late := returned - until
	r.Took("late return", max(late, 0))
	if late > endsBy && late-l.stalled(until-endsBy, returned) > endsBy {
		r.Violate("late return", p.since(returned), "%s: %s returned %v after its context had ended",
			l.name, what, late)
	}
}

// isUnclear reports whether a client has said that it could not release everything.
func (e *end) isUnclear() bool { return e != nil && (e.returned == 0 || e.class != "") }

// leaves is until when a client that has failed to may leave locks behind: what it had
// asked for may have been granted when it had gone.
func (e *end) leaves(ttl time.Duration) time.Duration {
	return max(e.call, e.returned) + recovery + ttl
}

// freed is until when a lease may keep the lock from others.
func (l *lease) freed() time.Duration {
	c := l.life.ends[l.client]
	least := l.got + l.minHold
	if l.minHold > 0 {
		least += l.life.slack
	}
	switch {
	case l.left > 0 && l.leftClass == "":
		return max(l.left, least, l.neverReleased(least))
	case l.ended > 0 && l.why == classLost || l.leftClass == classLost:
		return l.good + l.ttl
	case l.left == 0 && l.life.killed > 0:
		return l.life.killed + l.life.stays(l.ttl)
	case l.left > 0: // it was not released, and not renewed any more
		return max(l.left+l.ttl, least)
	case c != nil && c.returned > 0 && c.class == "":
		return max(c.returned, least)
	case c != nil:
		return max(c.leaves(l.life.stays(l.ttl)), least)
	default:
		return max(l.left, least)
	}
}

// neverReleased is until when a lease may keep the lock that was to be released when its least time is over, by who was
// not there any more, or could not; zero: it was released.
func (l *lease) neverReleased(least time.Duration) time.Duration {
	c := l.life.ends[l.client]
	switch {
	case l.minHold == 0:
		return 0
	case l.life.killed > 0 && l.life.killed < least:
		return l.life.killed + l.life.stays(l.ttl)
	case c.isUnclear() && c.call < least+recovery:
		return c.leaves(l.life.stays(l.ttl))
	}
	return 0
}

// isUnsettled reports whether a lock may have been granted to nobody any more, if who asked for
// it ended at some time: it had no answer yet, or was giving back what it may have been granted.
func (l *lease) isUnsettled(ended time.Duration) bool {
	return l.got == 0 && (l.no == 0 || l.doubt && ended < l.no+recovery)
}

// busy are the times in which somebody had a lock, or may have had it.
func (p *past) busy() map[string][]span {
	busy := map[string][]span{}
	for _, l := range p.leases {
		c := l.life.ends[l.client]
		switch {
		case l.got > 0:
			busy[l.name] = append(busy[l.name], span{l.heldSince(), max(l.freed(), p.revived(l))})
		case l.life.killed > 0 && l.isUnsettled(l.life.killed):
			busy[l.name] = append(busy[l.name], span{l.ask, l.life.killed + l.life.stays(l.ttl)})
		case c.isUnclear() && (l.class == classClosed || l.isUnsettled(c.call)):
			busy[l.name] = append(busy[l.name], span{l.ask, c.leaves(l.life.stays(l.ttl))})
		}
		busy[l.name] = append(busy[l.name], l.stoodStill()...)
	}
	for name := range busy {
		busy[name] = merge(busy[name])
	}
	return busy
}

// stoodStill are the times in which a process that did not run may have kept others from the lock: until it went on, or
// was given up.
func (l *lease) stoodStill() (spans []span) {
	kept, until := l.keptStill()
	for _, s := range l.life.stalls {
		if from := max(s.from, l.ask); kept > 0 && s.from <= until && from <= s.to {
			spans = append(spans, span{from, min(s.to, from+kept)})
		}
	}
	return spans
}

// keptStill is for how long others are kept from the lock by one who does not run, 0 for not at all, and up to when it
// had something to keep them from: where the store keeps what a client has for longer than a lease, that or its place
// in the line; where it passes locks on, its place, since it may be granted the lock, and not know of it.
func (l *lease) keptStill() (kept, until time.Duration) {
	waited := max(l.got, l.no)
	if waited == 0 {
		waited = max(l.life.killed, l.until)
	}
	switch stays := l.life.stays(0) > 0; {
	case stays && l.got > 0:
		return l.life.stays(l.ttl), l.freed()
	case stays:
		return l.life.stays(l.ttl), waited
	case l.life.isPassed:
		return heldUp(l.ttl), waited
	}
	return 0, 0
}

// standing: a lock that nobody has does not stand free while somebody waits for it.
func (p *past) standing(r *audit.Report, busy map[string][]span) {
	excused := p.troubled()
	told := map[span]bool{}
	for _, l := range p.leases {
		waited := max(l.got, l.no)
		if l.style == try || waited == 0 {
			continue
		}
		for _, gap := range gaps(busy[l.name], l.ask, waited) {
			idle := gap.to - gap.from - coveredTime(excused, gap.from, gap.to) - l.life.stalled(gap.from, gap.to)
			r.Took("free while wanted", idle)
			if idle > freeFor && !told[span{gap.from, 0}] {
				told[span{gap.from, 0}] = true
				r.Violate("stood free", p.since(gap.from), "%s: nobody had it for %v while %s (%s) waited for it",
					l.name, gap.to-gap.from, l.life.name, l.style)
			}
		}
	}
}

// heldSince is since when a lease may have kept the lock from others: since its process
// stood still, if it heard of it when it went on. A stall begins when the process was seen
// running last, which may be before it asked.
func (l *lease) heldSince() time.Duration {
	for _, s := range l.life.stalls {
		if s.to > l.ask && s.from < l.got && l.got-s.to < time.Second {
			return max(s.from, l.ask)
		}
	}
	return l.got
}

// revived is until when a lease may stand in a store that has forgotten its release, or
// that was no master when it was told: 0 if that was at no such time.
func (p *past) revived(l *lease) time.Duration {
	if l.left == 0 || p.window(l.name, l.left-time.Second, l.left, recovery, "", twice) == nil {
		return 0
	}
	return l.left + l.ttl
}

// troubled are the times in which nobody may be able to go on.
func (p *past) troubled() []span {
	var spans []span
	for i := range p.windows {
		if w := &p.windows[i]; w.Excuses.Wait {
			spans = append(spans, span{w.From, w.To + recovery})
		}
	}
	return merge(append(spans, p.slow...))
}

// gaps are the times in a span that busy ones leave, which are in order.
func gaps(busy []span, from, to time.Duration) []span {
	var free []span
	first, _ := slices.BinarySearchFunc(busy, from, func(b span, at time.Duration) int {
		return cmp.Compare(b.to, at+1)
	})
	for _, b := range busy[first:] {
		if b.from >= to {
			break
		}
		if b.from > from {
			free = append(free, span{from, b.from})
		}
		from = max(from, b.to)
	}
	if from < to {
		free = append(free, span{from, to})
	}
	return free
}

// starved: nobody waits long while others have the lock again and again.
func (p *past) starved(r *audit.Report, grants map[string][]*lease) {
	for _, l := range p.leases {
		waited := max(l.got, l.no) - l.ask
		if l.style != devoted || waited <= 0 {
			continue
		}
		r.Took("wait of the devoted", waited)
		if waited < starvedFor || coveredTime(p.hits(l.life.worker), l.ask, l.ask+waited)+l.life.stalled(l.ask,
			l.ask+waited) > waited/4 {
			continue
		}
		own, others := shares(grants[l.name], l, waited)
		if others >= pastBy && own*leastShare*p.workers() < own+others {
			r.Violate("starved", p.since(l.ask),
				"%s: %s waited for %v, and its process had it %d times, others %d times",
				l.name, l.life.name, waited, own, others)
		}
	}
}

// leastShare is the part of an equal share that every process gets: one in so many.
const leastShare = 10

// shares counts how often the process of a waiter had its lock meanwhile, and how often
// others did.
func shares(grants []*lease, l *lease, waited time.Duration) (own, others int) {
	for _, g := range grants {
		switch {
		case g.got <= l.ask || g.got >= l.ask+waited:
		case g.life.worker == l.life.worker:
			own++
		default:
			others++
		}
	}
	return own, others
}

// workers is how many processes there were at one time.
func (p *past) workers() int {
	names := map[string]bool{}
	for _, l := range p.lives {
		names[l.worker] = true
	}
	return len(names)
}

// hits are the times in which something was done to one worker.
func (p *past) hits(worker string) []span {
	var spans []span
	for i := range p.windows {
		if w := &p.windows[i]; w.Hits(worker) {
			spans = append(spans, span{w.From, w.To})
		}
	}
	return merge(spans)
}
