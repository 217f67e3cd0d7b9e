package plan

import (
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// Walk is how a phase stands: what to call now, what has gone wrong, and whether
// it is finished.
type Walk struct {
	Run  []txn.Step
	Next time.Time
	// Finished: nothing is left to call and nothing is under way.
	Finished bool
	// Refused is the first branch that was refused, or -1.
	Refused int
	// Spent is the first step that has no attempts left and no word from a hook.
	Spent *txn.Step

	now      time.Time
	room     int // how many more calls may be under way
	flying   int
	waiting  bool
	parallel int
}

func newWalk(now time.Time, parallel int) *Walk {
	return &Walk{Refused: -1, now: now, parallel: parallel, room: parallel}
}

// Forward walks the branches that can go forward, in the order of the graph.
func Forward(t *txn.Transaction, now time.Time, parallel int) *Walk {
	w := newWalk(now, parallel)
	g := t.Graph()
	for i := range t.Branches {
		if ready(g.Before(i), func(j int) bool { return t.Progress[j].Do.State.Over() }) {
			w.visit(t, txn.Step{Branch: i, Phase: txn.PhaseDo})
		} else {
			w.waiting = true
		}
	}
	return w.end()
}

// Confirm walks all branches, to tell them of the commit.
func Confirm(t *txn.Transaction, now time.Time, parallel int) *Walk {
	w := newWalk(now, parallel)
	for i := range t.Branches {
		w.visit(t, txn.Step{Branch: i, Phase: txn.PhaseConfirm})
	}
	return w.end()
}

// Backward walks the branches to undo, in the reverse order of the graph. A branch
// is undone when touched says that it may have had an effect.
func Backward(t *txn.Transaction, now time.Time, parallel int, touched func(t *txn.Transaction, i int) bool) *Walk {
	w := newWalk(now, parallel)
	g := t.Graph()
	undone := func(j int) bool {
		p := &t.Progress[j]
		return !p.Do.InFlight && (p.Undo.State.Over() || !touched(t, j))
	}
	for i := len(t.Branches) - 1; i >= 0; i-- {
		switch {
		case undone(i):
		case t.Progress[i].Do.InFlight || !ready(g.After(i), undone):
			w.waiting = true
		default:
			w.visit(t, txn.Step{Branch: i, Phase: txn.PhaseUndo})
		}
	}
	return w.end()
}

// Touched tells whether going forward may have had an effect.
func Touched(t *txn.Transaction, i int) bool {
	switch t.Progress[i].Do.State {
	case txn.Idle, txn.Refused:
		return false
	default:
		return true
	}
}

// One walks a single step.
func One(t *txn.Transaction, s txn.Step, now time.Time) *Walk {
	w := newWalk(now, 1)
	w.visit(t, s)
	return w.end()
}

func ready(indexes []int, over func(int) bool) bool {
	for _, j := range indexes {
		if !over(j) {
			return false
		}
	}
	return true
}

// visit looks at one step whose turn it is.
func (w *Walk) visit(t *txn.Transaction, s txn.Step) {
	op := t.Op(s)
	switch {
	case op.State.Over():
	case op.State == txn.Refused:
		if w.Refused < 0 {
			w.Refused = s.Branch
		}
	case op.InFlight:
		w.flying++
		w.room--
	case op.Spent:
		w.spent(t, s)
	case op.Due.After(w.now):
		w.waiting = true
		w.until(op.Due)
	default:
		w.call(s)
	}
}

// spent asks the hook, if there is one.
func (w *Walk) spent(t *txn.Transaction, s txn.Step) {
	policy := t.Policy(s)
	if policy.Then != txn.Hook || s.Phase == txn.PhaseHook || s.Phase == txn.PhaseCheck {
		w.giveUp(s)
		return
	}
	hook := txn.Step{Branch: s.Branch, Phase: txn.PhaseHook}
	if op := t.Op(hook); op.State == txn.Refused || op.Spent {
		w.giveUp(s)
		return
	}
	w.visit(t, hook)
}

func (w *Walk) giveUp(s txn.Step) {
	w.waiting = true
	if w.Spent == nil {
		w.Spent = &s
	}
}

func (w *Walk) call(s txn.Step) {
	if w.room <= 0 {
		w.waiting = true
		return
	}
	w.room--
	w.Run = append(w.Run, s)
}

func (w *Walk) until(due time.Time) {
	if w.Next.IsZero() || due.Before(w.Next) {
		w.Next = due
	}
}

func (w *Walk) end() *Walk {
	w.Finished = len(w.Run) == 0 && w.flying == 0 && !w.waiting && w.Refused < 0
	return w
}

// Stuck tells that nothing can be done any more before a person has seen to the
// step that is spent.
func (w *Walk) Stuck() bool {
	return w.Spent != nil && len(w.Run) == 0 && w.flying == 0 && w.Next.IsZero()
}

// Plan continues the phase: its calls, and when to look again.
func (w *Walk) Plan() txn.Plan { return txn.Plan{Run: w.Run, Next: w.Next} }

// Why says what went wrong with a branch, for people.
func Why(t *txn.Transaction, s txn.Step) string {
	op := t.Op(s)
	what := "was refused"
	if op.Spent {
		what = fmt.Sprintf("failed %d times", op.Tries)
	}
	name := "check"
	if s.Phase != txn.PhaseCheck {
		name = t.Branches[s.Branch].ID
	}
	if op.Note == "" {
		return name + " " + what
	}
	return name + " " + what + ": " + op.Note
}
