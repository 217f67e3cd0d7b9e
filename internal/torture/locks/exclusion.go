package locks

import (
	"cmp"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/internal/torture/audit"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
)

// leases is a set of them.
type leases map[*lease]bool

// among reports whether some are in a list.
func (s leases) among(list []*lease) bool {
	return slices.ContainsFunc(list, func(l *lease) bool { return s[l] })
}

func twice(e nemesis.Excuses) bool { return e.Twice }

// exclusion: two leases of one name are never good at one moment. A lease counts from
// when its holder had it to when that last looked and found it good, so clocks and
// delays can only hide an overlap, never make one up. It returns the second ones
// of those that a fault has excused.
func (p *past) exclusion(r *audit.Report, grants map[string][]*lease) (excused leases) {
	excused = leases{}
	for name, list := range grants {
		var holder *lease
		for _, l := range list {
			if holder != nil && l.got < holder.good && !p.excusedTwice(holder, l) {
				r.Violate("two at once", p.since(l.got),
					"%s: %s (token %d) got it while %s (token %d) had it for another %v",
					name, l.life.name, l.token, holder.life.name, holder.token, holder.good-l.got)
			} else if holder != nil && l.got < holder.good {
				r.Explained["two at once"]++
				excused[l] = true
			}
			if holder == nil || l.good > holder.good {
				holder = l
			}
		}
	}
	return excused
}

// passedOn is how long a process may pass a lock on that the store has forgotten: the
// longest budget for that, and a while.
const passedOn = 300 * time.Millisecond

// excusedTwice reports whether a fault made the store forget the first lease.
func (p *past) excusedTwice(first, second *lease) bool {
	return p.window(first.name, first.ask, second.got, passedOn, "", twice) != nil
}

// tokens: no two leases of a name have the same one, and whoever got the lock after
// another one had left it has a higher one.
func (p *past) tokens(r *audit.Report, grants map[string][]*lease, excused leases) {
	for name, list := range grants {
		seen := map[uint64]*lease{}
		byEnd := slices.Clone(list)
		slices.SortFunc(byEnd, func(a, b *lease) int { return cmp.Compare(a.good, b.good) })
		var highest *lease
		next := 0
		for _, l := range list {
			for ; next < len(byEnd) && byEnd[next].good <= l.got && byEnd[next] != l; next++ {
				if highest == nil || byEnd[next].token > highest.token {
					highest = byEnd[next]
				}
			}
			if highest != nil && l.token <= highest.token && highest.good < l.got {
				p.lower(r, highest, l, excused)
			}
			if other := seen[l.token]; other != nil {
				r.Violate("tokens", p.since(l.got), "%s: %s and %s have the same token %d",
					name, other.life.name, l.life.name,
					l.token)
			}
			seen[l.token] = l
		}
	}
}

// lower enters that a later lease has a lower token. That is so, for a moment, where a
// process passes a lock on that its store has just granted a second time; no fault
// excuses it otherwise.
func (p *past) lower(r *audit.Report, earlier, later *lease, excused leases) {
	if p.window(later.name, later.ask, later.got, passedOn, "", twice) != nil {
		r.Explained["lower token, passed on"]++
		excused[later] = true
		return
	}
	r.Violate("tokens", p.since(later.got), "%s: %s got token %d after %s had %d",
		later.name, later.life.name, later.token, earlier.life.name, earlier.token)
}

// fence: a resource that compares tokens refuses nobody whose lease is good.
func (p *past) fence(r *audit.Report) {
	for _, f := range p.refused {
		switch {
		case f.lease.good < f.at:
			r.Explained["late write refused"]++
		case p.window(f.lease.name, f.lease.ask, f.at, passedOn, "", twice) != nil:
			r.Explained["write refused"]++
		default:
			r.Violate("fence", p.since(f.at), "%s: %s was refused with token %d while its lease was good",
				f.lease.name, f.lease.life.name, f.token)
		}
	}
}

// soon is how long a client may take to notice that the replica does not answer: for
// leases passed on within the process, which nobody asks a replica about.
const soon = 300 * time.Millisecond

// confirmed: where every grant needs a replica's word there is none while the only
// replica is frozen.
func (p *past) confirmed(r *audit.Report) {
	if !p.Acks {
		return
	}
	for i := range p.windows {
		e := &p.windows[i].Effect
		if e.From == 0 || !slices.Contains(replicaFaults(), p.windows[i].Kind) {
			continue
		}
		for _, l := range p.leases {
			if l.got > 0 && l.ask > e.From+soon && l.got < e.To {
				r.Violate("unconfirmed", p.since(l.got), "%s: %s got it %v after the only replica was frozen",
					l.name, l.life.name, l.got-e.From)
			}
		}
	}
}
