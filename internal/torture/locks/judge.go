package locks

import (
	"time"

	"github.com/bedrock-go/bedrock/internal/torture/audit"
)

// Judge says what the history in a folder proves.
func Judge(dir string) (*audit.Report, error) {
	p, err := readPast(dir)
	if err != nil {
		return nil, err
	}
	r := audit.New(p.Name, p.Seed)
	r.For, r.Dir = p.finished-p.began, dir
	p.count(r)
	grants := p.grants()
	excused := p.exclusion(r, grants)
	p.tokens(r, grants, excused)
	p.fence(r)
	p.confirmed(r)
	p.losses(r)
	p.ends(r)
	busy := p.busy()
	p.standing(r, busy)
	p.unexplained(r, busy)
	p.starved(r, grants)
	p.left(r)
	p.linearizable(r, excused)
	p.judgeProof(r)
	r.Conclude()
	return r, nil
}

// count enters what was done.
func (p *past) count(r *audit.Report) {
	for _, l := range p.leases {
		r.Operations[string(l.style)]++
		switch {
		case l.got > 0:
			r.Operations["granted"]++
			r.Took("wait", l.got-l.ask)
		case l.no > 0:
			r.Operations["not granted: "+string(l.class)]++
		}
	}
	r.Operations["kept alone"] = p.kept
	r.Operations["guarded writes"] = p.writes
	r.Operations["passed on by the server"] = p.passed
	for i := range p.windows {
		w := &p.windows[i]
		r.Faults[w.Kind]++
		if w.Effect.Evidence != "" {
			r.Evidence[w.Kind] = w.Effect.Evidence
		}
	}
	for _, l := range p.lives {
		for _, s := range l.stalls {
			r.Took("stall of a worker", s.to-s.from)
		}
	}
	for _, s := range p.slow {
		r.Took("slow answer", s.to-s.from)
	}
}

// left: when all clients are closed, no lock is held, no goroutine runs, and a server is
// at rest.
func (p *past) left(r *audit.Report) {
	lives := map[string]*life{}
	for _, l := range p.lives {
		lives[l.pid] = l
		if l.gone > l.born+spareGoroutines {
			r.Violate("goroutines", p.since(p.finished), "%s had %d at first, and %d when its clients were closed",
				l.name,
				l.born, l.gone)
		}
	}
	for _, e := range p.residue {
		l := lives[e.Text]
		if l != nil && l.mayLeave(e.At) {
			r.Explained["lock left by the killed or cut off"]++
			continue
		}
		if p.window(e.Name, e.At-(longTTL-e.TTL), e.At, 0, "", twice) != nil {
			r.Explained["its release was forgotten by the store"]++
			continue
		}
		r.Violate("lock left behind", p.since(e.At), "%s: owner %s, token %d, for another %v", e.Name, e.Owner, e.Token,
			e.TTL)
	}
	for _, e := range p.reentries {
		r.Violate("re-entry", p.since(e.no), "%s: %s was refused under its own lease: %s", e.name, e.life.name, e.text)
	}
	for _, e := range p.complaints {
		r.Violate("not at rest", p.since(e.At), "%s", e.Text)
	}
}

const spareGoroutines = 4

// mayLeave reports whether a life may have left locks that are still there.
func (l *life) mayLeave(at time.Duration) bool {
	if l.killed > 0 {
		return at < l.killed+l.stays(longTTL)
	}
	for _, c := range l.ends {
		if c.isUnclear() && at < c.leaves(l.stays(longTTL)) {
			return true
		}
	}
	return false
}

// The least that a run must have seen to prove anything.
const (
	leastBefore = 20  // leases before the first fault
	leastGrants = 100 // in all
)

// judgeProof says why the run proves nothing, if it does not.
func (p *past) judgeProof(r *audit.Report) {
	for _, d := range p.doubts {
		r.Doubt("%s", d)
	}
	first := p.finished
	for i := range p.windows {
		w := &p.windows[i]
		first = min(first, w.From)
		if w.Problem != "" {
			r.Doubt("%s", w.Problem)
		}
	}
	if (p.Mixed || p.Passing) && p.passed == 0 {
		r.Doubt("the server has passed no lock on")
	}
	if len(p.windows) == 0 {
		r.Doubt("no fault was done")
	}
	before := 0
	for _, l := range p.leases {
		if l.got > 0 && l.got < first {
			before++
		}
	}
	if before < leastBefore || r.Operations["granted"] < leastGrants {
		r.Doubt("too little was done: %d leases before the first fault (at least %d), %d in all (at least %d)",
			before, leastBefore, r.Operations["granted"], leastGrants)
	}
}
