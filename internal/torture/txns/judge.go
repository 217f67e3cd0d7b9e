package txns

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/internal/torture/accounts"
	"github.com/bedrock-go/bedrock/internal/torture/audit"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/msg"
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
	p.money(r)
	for _, id := range slices.Sorted(maps.Keys(p.stories)) {
		s := p.stories[id]
		p.judgeTold(r, s)
		p.stuck(r, s)
		p.unexplained(r, s)
		p.byHand(r, s)
		p.silence(r, s)
		p.branches(r, s)
	}
	p.orphans(r)
	p.ladders(r)
	p.afterUndo(r)
	p.usages(r)
	p.judgeProof(r)
	r.Conclude()
	return r, nil
}

func (p *past) count(r *audit.Report) {
	for _, s := range p.stories {
		switch {
		case s.letter():
			r.Operations["letters"]++
		case s.begun > 0:
			r.Operations[fmt.Sprintf("%s %s", s.mode, s.fate)]++
			r.Operations["transactions"]++
			if s.told > 0 {
				r.Took("wait for an end", s.told-s.begun)
			}
		}
		if s.recorded && s.epoch > 2 {
			r.Operations["changed hands"]++
		}
	}
	for _, calls := range p.calls {
		r.Operations["calls"] += len(calls)
	}
	for i := range p.windows {
		w := &p.windows[i]
		r.Faults[w.Kind]++
		if w.Effect.Evidence != "" {
			r.Evidence[w.Kind] = w.Effect.Evidence
		}
	}
}

// money is neither lost nor made, held nor owed.
func (p *past) money(r *audit.Report) {
	if p.sums == nil {
		return
	}
	if p.sums["balance"] != numAccounts*opening || p.sums["frozen"] != 0 || p.sums["coming"] != 0 ||
		p.sums["least"] < 0 {
		r.Violate("money", p.since(p.finished),
			"accounts hold %d, and held %d at first; %d are frozen, %d still to come, the least is %d",
			p.sums["balance"], numAccounts*opening, p.sums["frozen"], p.sums["coming"], p.sums["least"])
	}
}

func final(o txn.Outcome) bool { return o == txn.Committed || o == txn.RolledBack }

// judgeTold: what a client was told is what has become of its transaction.
func (p *past) judgeTold(r *audit.Report, s *story) {
	switch {
	case s.never != "" && s.recorded:
		r.Violate("told", p.since(s.begun), "%s was not accepted, to its client (%s), but is %s",
			s.id, s.never, s.status)
	case final(s.result) && !s.failed && !s.recorded:
		r.Violate("told", p.since(s.told), "%s was %s to its client, but does not exist", s.id, s.result)
	case final(s.result) && !s.failed && s.result != s.status:
		r.Violate("told", p.since(s.told), "%s was %s to its client, but is %s", s.id, s.result, s.status)
	}
	if s.status == txn.Committed && (&transfer{Fate: s.fate}).fails() {
		r.Violate("told", p.since(s.told), "%s is committed, although it could not be done", s.id)
	}
}

// stuck: every transaction that was accepted ends, soon after the last fault.
func (p *past) stuck(r *audit.Report, s *story) {
	if s.recorded && !final(s.status) {
		r.Violate("stuck", p.since(p.finished), "%s is %s (%s) %v after the last fault; parked: %q",
			s.id, s.status, s.fate, p.finished-p.calm, s.still)
	} else if s.begun > 0 && s.told == 0 {
		r.Violate("stuck", p.since(s.begun), "the client of %s was told nothing", s.id)
	}
}

// unexplained: what has the money for it is committed, unless its participants were away.
func (p *past) unexplained(r *audit.Report, s *story) {
	tr := transfer{Fate: s.fate}
	if s.status != txn.RolledBack || !tr.succeeds() || strings.Contains(s.reason, accounts.PoorReason) {
		return
	}
	if s.mode == msg.Name {
		return // its producer may have changed its mind
	}
	if why := p.excused(s.begun, s.told); why != "" {
		r.Explained["rolled back: "+why]++
		return
	}
	r.Violate("rolled back", p.since(s.told), "%s (%s) was rolled back though its participants were there: %s", s.id,
		s.fate, s.reason)
}

// byHand: a commit that comes after the deadline is refused.
func (p *past) byHand(r *audit.Report, s *story) {
	for _, c := range s.commits {
		if !c.Failed {
			r.Took("commit after its deadline", max(c.Late, 0))
		}
		if !c.Failed && c.Late > 0 {
			r.Violate("late commit", p.since(c.At), "%s was told that it is committed, %v after its deadline",
				s.id, c.Late)
		}
	}
}

// silence: nothing happens to a transaction that is parked, until somebody acts.
func (p *past) silence(r *audit.Report, s *story) {
	if s.parked == 0 || len(s.acts) == 0 {
		return
	}
	for _, op := range s.ops {
		for _, c := range p.calls[op] {
			if !c.again && c.from > s.parked && c.from < s.acts[0].At {
				r.Violate("parked", p.since(c.from), "%s: %s %s was called while it was parked", s.id, op.name, op.op)
			}
		}
	}
}

// branches: every branch shows exactly the effects that go with the outcome.
func (p *past) branches(r *audit.Report, s *story) {
	if !s.recorded || !final(s.status) {
		return
	}
	if s.letter() {
		if n := p.deliveries(s.id); n != 1 {
			r.Violate("effects", p.since(p.finished), "the letter %s took effect %d times", s.id, n)
		}
		return
	}
	for _, name := range []string{"debit", "credit"} {
		effects := p.effects[branch{s.id, name}]
		right := func(w []string) bool { return slices.Equal(w, effects) }
		if !slices.ContainsFunc(accounts.Allowed(s.mode, name, s.status == txn.Committed), right) {
			r.Violate("effects", p.since(s.told), "%s is %s, but %s had the effects %v", s.id, s.status, name, effects)
		}
	}
}

// deliveries is how often a letter took effect.
func (p *past) deliveries(id string) int {
	n := 0
	for i := range mostLetters {
		n += len(p.effects[branch{id, fmt.Sprintf("note%d", i)}])
	}
	return n
}

// orphans: nothing takes effect for a transaction that does not exist.
func (p *past) orphans(r *audit.Report) {
	for b, effects := range p.effects {
		if s := p.stories[b.id]; s == nil || !s.recorded {
			r.Violate("effects", p.since(p.finished), "%s: %s had the effects %v, but there is no such transaction",
				b.id,
				b.name, effects)
		}
	}
}

// afterUndo: a branch that was taken back never reports success again.
func (p *past) afterUndo(r *audit.Report) {
	for op, calls := range p.calls {
		undo := map[string]string{"action": "compensate", "try": "cancel"}[op.op]
		if undo == "" {
			continue
		}
		for _, u := range p.calls[branchOp{op.branch, undo}] {
			if u.answer != answerDone {
				continue
			}
			for _, c := range calls {
				if c.from > u.to && c.answer == answerDone {
					r.Violate("done after undo", p.since(c.from),
						"%s: %s of %s was answered with success %v after its %s",
						op.id, op.op, op.name, c.from-u.to, undo)
				}
			}
			break
		}
	}
}

// The bounds of what a replica may take.
const (
	mostFiles = 1500 // at any time: clients, participants, the store
	moreFiles = 100  // at rest, beyond what it had at first
	mostStore = 60   // of a store that is a file: the connections of a pool
	mostBusy  = 8    // percent of a processor, when there is nothing to do
	// deadFor is how long a store may take to write again when there is space again.
	deadFor = 5 * time.Second
)

// usages: a replica takes no more and more, and nothing when there is nothing to do.
func (p *past) usages(r *audit.Report) {
	for _, u := range p.usage {
		files, idle := u.Numbers["files"], u.Numbers["idle"]
		switch {
		case u.Text == "at most":
			r.Operations["files of "+u.ID] = int(files)
			if files > mostFiles {
				r.Violate("files", p.since(u.At), "%s had %d files open", u.ID, files)
			}
			if n := u.Numbers["store"]; n > mostStore {
				r.Violate("files", p.since(u.At), "%s had its store open %d times", u.ID, n)
			}
		case u.Text == "after disk full":
			r.Took("dead after disk full", time.Duration(u.Numbers["dead"]))
			if time.Duration(u.Numbers["dead"]) > deadFor {
				r.Violate("dead", p.since(u.At), "%s could not write for %v after there was space again", u.ID,
					time.Duration(u.Numbers["dead"]))
			}
		case u.Text == "at rest" && files > idle+moreFiles:
			r.Violate("files", p.since(u.At), "%s had %d files open at first, and has %d at rest", u.ID, idle, files)
		case u.Numbers["percent"] > mostBusy:
			r.Violate("busy", p.since(u.At), "%s took %d %% of a processor %s", u.ID, u.Numbers["percent"], u.Text)
		}
	}
}

const (
	leastBefore = 20
	leastInAll  = 100
)

// judgeProof says why the run proves nothing, if it does not.
func (p *past) judgeProof(r *audit.Report) {
	for _, d := range p.doubts {
		r.Doubt("%s", d)
	}
	first := p.finished
	for i := range p.windows {
		first = min(first, p.windows[i].From)
		if problem := p.windows[i].Problem; problem != "" {
			r.Doubt("%s", problem)
		}
	}
	if len(p.windows) == 0 {
		r.Doubt("no fault was done")
	}
	before := 0
	for _, s := range p.stories {
		if s.told > 0 && s.told < first {
			before++
		}
	}
	if before < leastBefore || r.Operations["transactions"] < leastInAll {
		r.Doubt("too little was done: %d transactions before the first fault (at least %d), %d in all (at least %d)",
			before, leastBefore, r.Operations["transactions"], leastInAll)
	}
}
