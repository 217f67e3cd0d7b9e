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
	parallel int // how many calls may be under way
	flying   int
	waiting  bool
}

func newWalk(now time.Time, parallel int) Walk {
	return Walk{Refused: -1, now: now, parallel: parallel}
}

// Forward walks the branches that can go forward, in the order of the graph.
func Forward(t *txn.Transaction, now time.Time, parallel int) Walk {
	w := newWalk(now, parallel)
	g := t.Graph()
	for i := range t.Progress {
		switch {
		case t.Progress[i].Do.State.Over():
			// Nothing to visit; most branches of a long graph are over.
		case allDone(t, g.Before(i)):
			w.visit(t, txn.Step{Branch: i, Phase: txn.PhaseDo})
		default:
			w.waiting = true
		}
	}
	w.boundRun()
	return w
}

func allDone(t *txn.Transaction, indexes []int) bool {
	for _, j := range indexes {
		if !t.Progress[j].Do.State.Over() {
			return false
		}
	}
	return true
}

// Confirm walks all branches, to tell them of the commit.
func Confirm(t *txn.Transaction, now time.Time, parallel int) Walk {
	w := newWalk(now, parallel)
	for i := range t.Progress {
		w.visit(t, txn.Step{Branch: i, Phase: txn.PhaseConfirm})
	}
	w.boundRun()
	return w
}

// Backward walks the branches to undo, in the reverse order of the graph. A branch
// is undone when touched says that it may have had an effect.
func Backward(t *txn.Transaction, now time.Time, parallel int, touched func(t *txn.Transaction, i int) bool) Walk {
	w := newWalk(now, parallel)
	g := t.Graph()
	for i := len(t.Progress) - 1; i >= 0; i-- {
		switch {
		case undone(t, i, touched):
		case goingForward(&t.Progress[i]):
			w.flying++
		case !allUndone(t, g.After(i), touched):
			w.waiting = true
		default:
			w.visit(t, txn.Step{Branch: i, Phase: txn.PhaseUndo})
		}
	}
	w.boundRun()
	return w
}

func undone(t *txn.Transaction, i int, touched func(t *txn.Transaction, i int) bool) bool {
	p := &t.Progress[i]
	return !goingForward(p) && (p.Undo.State.Over() || !touched(t, i))
}

func allUndone(t *txn.Transaction, indexes []int, touched func(t *txn.Transaction, i int) bool) bool {
	for _, j := range indexes {
		if !undone(t, j, touched) {
			return false
		}
	}
	return true
}

// goingForward reports whether a call from before the decision is still under way:
// the branch itself, or a hook that was asked about it. Undoing beside it could
// come first, and undo nothing.
func goingForward(p *txn.Progress) bool {
	return p.Do.InFlight || p.Hook.InFlight && !p.Undo.Spent
}

// Touched reports whether going forward may have had an effect. A branch that the
// coordinator itself has refused may have been called before, perhaps by an owner that has
// died; its undo is then unsure.
func Touched(t *txn.Transaction, i int) bool {
	p := &t.Progress[i]
	switch p.Do.State {
	case txn.Idle, txn.Refused:
		return p.Undo.State == txn.Unsure
	default:
		return true
	}
}

// One walks a single step.
func One(t *txn.Transaction, s txn.Step, now time.Time) Walk {
	w := newWalk(now, 1)
	w.visit(t, s)
	w.boundRun()
	return w
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
	case op.Spent:
		w.spent(t, s)
	case op.Due.After(w.now):
		w.waiting = true
		w.until(op.Due)
	default:
		w.addCall(s)
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

func (w *Walk) addCall(s txn.Step) {
	if len(w.Run) >= w.parallel {
		w.waiting = true
		return
	}
	w.Run = append(w.Run, s)
}

func (w *Walk) until(due time.Time) {
	if w.Next.IsZero() || due.Before(w.Next) {
		w.Next = due
	}
}

// boundRun leaves room for the calls under way, which are known only now.
func (w *Walk) boundRun() {
	if room := max(w.parallel-w.flying, 0); len(w.Run) > room {
		w.Run, w.waiting = w.Run[:room], true
	}
	w.Finished = len(w.Run) == 0 && w.flying == 0 && !w.waiting && w.Refused < 0
}

// Stuck reports whether nothing can be done any more before a person has seen to the step
// that is spent.
func (w *Walk) Stuck() bool {
	return w.Spent != nil && len(w.Run) == 0 && w.flying == 0 && w.Next.IsZero()
}

// Plan continues the phase: its calls, and when to look again.
func (w *Walk) Plan() txn.Plan { return txn.Plan{Run: w.Run, Next: w.Next} }

// Parks reports whether a step without attempts left leaves its transaction to a person:
// because its policy says so, or sets no limit and the answer does not change.
func Parks(t *txn.Transaction, s txn.Step) bool {
	p := t.Policy(s)
	return p.Then == txn.Park || p.Attempts == 0 && t.Op(s).Lasting >= LastingAttempts
}

// Why says what went wrong with a branch, for people.
func Why(t *txn.Transaction, s txn.Step) string {
	op := t.Op(s)
	what := "was refused"
	switch {
	case op.Spent && op.Lasting >= LastingAttempts:
		what = fmt.Sprintf("got the same %d times, which asking again does not change", op.Lasting)
	case op.Spent && op.Tries == 1:
		what = "failed"
	case op.Spent:
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
