package locks

import (
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/internal/torture/audit"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
)

// What a lock that the server passes on may cost.
const (
	// longestClaim is for how long the lock waits for one that was granted it and cannot know; a lease that is
	// shorter ends before.
	longestClaim = 5 * time.Second
	// askAgain is after which part of that time those who stand in line ask again.
	askAgain = 0.4
)

// heldUp is for how long one who stands in line and has gone may hold a lock up: until the claim is over, and the
// next one has asked again.
func heldUp(ttl time.Duration) time.Duration {
	return time.Duration((1 + askAgain) * float64(min(ttl, longestClaim)))
}

// unexplained: nobody waits for long for a lock that nobody has, unless that is due to an outage, to a holder who has
// gone, or to one in line who has. What is broken of a single process explains no more than that to the others.
func (p *past) unexplained(r *audit.Report, busy map[string][]span) {
	outages, troubles := p.outages(), p.troubles()
	waits := map[string][]*lease{}
	for _, l := range p.leases {
		waits[l.name] = append(waits[l.name], l)
	}
	for name, list := range waits {
		covered := merge(slices.Concat(p.lostClaims(list), busy[name], outages))
		told := map[time.Duration]bool{}
		for _, l := range list {
			waited := max(l.got, l.no)
			if l.style == try || waited == 0 {
				continue
			}
			for _, gap := range gaps(covered, l.ask, waited) {
				idle := gap.to - gap.from - coveredTime(troubles[l.life.worker], gap.from, gap.to) -
					l.life.stalled(gap.from, gap.to)
				r.Took("unexplained wait", idle)
				if idle > max(heldUp(l.ttl), freeFor) && !told[gap.from] {
					told[gap.from] = true
					r.Violate("unexplained wait", p.since(gap.from),
						"%s: nobody had it for %v while %s (%s) waited for it",
						l.name, gap.to-gap.from, l.life.name, l.style)
				}
			}
		}
	}
}

// outages are the times in which nobody could go on, since the servers could not.
func (p *past) outages() []span {
	var spans []span
	for i := range p.windows {
		if w := &p.windows[i]; w.Excuses.Wait && len(w.Effect.Hit) == 0 {
			spans = append(spans, span{w.From, w.To + recovery})
		}
	}
	return merge(append(spans, p.slow...))
}

// troubles are the times in which a worker may not be able to go on by itself.
func (p *past) troubles() map[string][]span {
	byWorker := map[string][]span{}
	for i := range p.windows {
		w := &p.windows[i]
		for _, worker := range w.Effect.Hit {
			byWorker[worker] = append(byWorker[worker], span{w.From, w.To + recovery})
		}
	}
	for worker := range byWorker {
		byWorker[worker] = merge(byWorker[worker])
	}
	return byWorker
}

// lostClaims are the times in which a lock may be granted to one who wanted it and was killed, stopped or cut off.
func (p *past) lostClaims(waits []*lease) []span {
	var spans []span
	for i := range p.windows {
		w := &p.windows[i]
		if len(w.Effect.Hit) == 0 {
			continue
		}
		for _, l := range waits {
			if w.Hits(l.life.worker) && l.wantedIn(w) {
				spans = append(spans, claimSpan(w, l))
			}
		}
	}
	return spans
}

// wantedIn reports whether somebody asked and had no answer at some time of a fault.
func (l *lease) wantedIn(w *nemesis.Window) bool {
	end := max(l.got, l.no)
	if end == 0 {
		end = max(l.life.killed, l.until)
	}
	return l.ask <= w.To && w.From <= end
}

// claimSpan is when a claim of one who was hit may hold the lock up. While only answers are lost it is made anew
// until the fault is over.
func claimSpan(w *nemesis.Window, l *lease) span {
	held := heldUp(l.ttl) + l.life.stays(0)
	if strings.HasPrefix(w.Kind, "worker ") {
		return span{w.From, w.From + held}
	}
	return span{w.From, w.To + held}
}
