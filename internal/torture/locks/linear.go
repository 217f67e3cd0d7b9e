package locks

import (
	"math"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/bedrock-go/bedrock/internal/torture/audit"
)

// held is the state of a lock in the model.
type held struct {
	by    *lease // nil: free
	token uint64 // the newest
}

// deed is what is done to a lock: it is granted to a lease, or that lease ends.
type deed struct {
	lease *lease
	ends  bool
}

// model is what a lock may do: grant while it is free, with a higher token than ever
// before, and come free when the lease that has it ends.
func model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return held{} },
		Step: func(state, input, _ any) (bool, any) {
			s, d := state.(held), input.(deed)
			switch {
			case d.ends && s.by == d.lease:
				return true, held{token: s.token}
			case d.ends:
				return true, s
			case s.by != nil || d.lease.token <= s.token:
				return false, s
			}
			return true, held{by: d.lease, token: d.lease.token}
		},
	}
}

const (
	// checkLimit bounds how long a part of what was done with a name is thought about.
	checkLimit = 10 * time.Second
	// part is how many leases are looked at together. Any of the leases that one lock has
	// had are such that one lock could have had, so parts can be judged alone; each meets
	// the half of the one before it. The time and memory of a long run stay bounded.
	part = 2000
)

// linearizable: there is an order of all grants and ends of a name, each at some moment
// between its call and its return, that a single lock could have had. It is porcupine's
// word, found in another way than by the other oracles.
func (p *past) linearizable(r *audit.Report, excused leases) {
	for name, list := range p.grants() {
		for from := 0; from == 0 || from+part/2 < len(list); from += part / 2 {
			some := list[from:min(from+part, len(list))]
			if excused.among(some) {
				continue
			}
			if !p.orderly(r, name, some) {
				break
			}
		}
	}
}

// orderly enters what porcupine says of some leases of a name, unless that is good.
func (p *past) orderly(r *audit.Report, name string, list []*lease) bool {
	switch porcupine.CheckOperationsTimeout(model(), deeds(list), checkLimit) {
	case porcupine.Illegal:
		r.Violate("linearizable", p.since(list[0].ask),
			"%s: no order of these %d leases is that of one lock with rising tokens",
			name, len(list))
	case porcupine.Unknown:
		r.Notes = append(r.Notes, "porcupine came to no end within "+checkLimit.String()+" for "+name)
	case porcupine.Ok:
		return true
	}
	return false
}

func deeds(list []*lease) []porcupine.Operation {
	var all []porcupine.Operation
	for i, l := range list {
		call, returned := l.endBetween()
		all = append(all,
			porcupine.Operation{ClientId: 2 * i, Input: deed{l, false}, Call: int64(l.ask), Return: int64(l.got)},
			porcupine.Operation{ClientId: 2*i + 1, Input: deed{l, true}, Call: call, Return: returned})
	}
	return all
}

// endBetween is between when and when a lease has come to its end; that of one that was not
// left in good order, or is kept for a least time, may be any time later.
func (l *lease) endBetween() (call, returned int64) {
	if l.left > 0 && l.leftClass == "" && l.minHold == 0 && l.ended == 0 {
		return int64(l.out), int64(l.left)
	}
	return int64(l.good), math.MaxInt64
}
