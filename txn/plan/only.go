package plan

import (
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// Allowed is what a mode has a use for.
type Allowed struct {
	Parallel, Recovery, Timeout, Delay, Check bool
	Do, Confirm, Undo                         bool
}

// Only refuses fields that would be ignored: whoever sets them expects something.
func Only(d *txn.Definition, a Allowed) error {
	fields := []struct {
		name         string
		set, allowed bool
	}{
		{"parallel", d.Parallel != 0, a.Parallel},
		{"recovery", d.Recovery != "", a.Recovery},
		{"timeout", d.Timeout != 0, a.Timeout},
		{"delay", d.Delay != 0, a.Delay},
		{"check", d.Check != nil, a.Check},
	}
	for _, f := range fields {
		if f.set && !f.allowed {
			return problem(f.name, "has no meaning in mode %s", d.Mode)
		}
	}
	return onlyTargets(d, a)
}

func onlyTargets(d *txn.Definition, a Allowed) error {
	for i := range d.Branches {
		b := &d.Branches[i]
		targets := []struct {
			name    string
			to      txn.Target
			allowed bool
		}{{"do", b.Do, a.Do}, {"confirm", b.Confirm, a.Confirm}, {"undo", b.Undo, a.Undo}}
		some := false
		for _, t := range targets {
			some = some || t.to != ""
			if t.to != "" && !t.allowed {
				return problem(fmt.Sprintf("branches[%d].%s", i, t.name), "has no meaning in mode %s", d.Mode)
			}
		}
		if !some {
			return problem(fmt.Sprintf("branches[%d]", i), "branch %q calls nobody", b.ID)
		}
	}
	return nil
}

// Late tells whether an undecided transaction is past its deadline.
func Late(t *txn.Transaction, now time.Time) bool {
	return !t.Deadline.IsZero() && !now.Before(t.Deadline)
}

// Until makes sure that a plan is looked at again by the deadline.
func Until(p txn.Plan, deadline time.Time) txn.Plan {
	if !deadline.IsZero() && (p.Next.IsZero() || deadline.Before(p.Next)) {
		p.Next = deadline
	}
	return p
}
