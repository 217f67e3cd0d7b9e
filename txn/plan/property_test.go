package plan_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/msg"
	"github.com/bedrock-go/bedrock/txn/plan"
	"github.com/bedrock-go/bedrock/txn/saga"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

func do(i int) txn.Step      { return txn.Step{Branch: i, Phase: txn.PhaseDo} }
func undo(i int) txn.Step    { return txn.Step{Branch: i, Phase: txn.PhaseUndo} }
func confirm(i int) txn.Step { return txn.Step{Branch: i, Phase: txn.PhaseConfirm} }
func producer() txn.Step     { return txn.Step{Branch: -1, Phase: txn.PhaseCheck} }

func sagaBranch(int) txn.Branch { return txn.Branch{Do: "do", Undo: "undo"} }

// A saga ends committed with everything done and nothing undone, or rolled back
// with exactly that undone which may have been done, in reverse order.
func TestSagaProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := txn.Definition{Branches: drawGraph(t, sagaBranch), Parallel: rapid.IntRange(0, 3).Draw(t, "parallel")}
		if rapid.Bool().Draw(t, "timeout") {
			d.Timeout = 3 * time.Second
		}
		s := newSim(t, saga.Mode{}, d, false)
		s.run()
		s.forwardInOrder()
		switch s.tx.Status {
		case txn.Committed:
			s.allOver(txn.PhaseDo)
			s.never(txn.PhaseUndo)
		case txn.RolledBack:
			s.undoneExactly(plan.Touched)
			s.backwardInOrder()
			s.nothingForwardAfterDecision()
			if s.tx.Reason == "" {
				t.Fatal("rolled back without a reason")
			}
		default:
			t.Fatalf("ended %s", s.tx.Status)
		}
	})
}

// A saga with forward recovery is committed in the end, whatever happens.
func TestForwardSagaProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSim(t, saga.Mode{}, txn.Definition{Recovery: txn.Forward, Branches: drawGraph(t, sagaBranch)}, false)
		s.run()
		s.forwardInOrder()
		s.never(txn.PhaseUndo)
		s.allOver(txn.PhaseDo)
		if s.tx.Status != txn.Committed {
			t.Fatalf("ended %s", s.tx.Status)
		}
	})
}

// A TCC transaction confirms all or cancels all, and never both.
func TestTCCProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := txn.Definition{Branches: drawGraph(t, tccBranch(t)), Parallel: rapid.IntRange(0, 3).Draw(t, "parallel")}
		s := newSim(t, tcc.Mode{}, d, false)
		s.run()
		s.forwardInOrder()
		switch s.tx.Status {
		case txn.Committed:
			s.allOver(txn.PhaseDo)
			s.allOver(txn.PhaseConfirm)
			s.never(txn.PhaseUndo)
			s.notBeforeAll(txn.PhaseConfirm, txn.PhaseDo)
		case txn.RolledBack:
			s.never(txn.PhaseConfirm)
			s.undoneExactly(func(t *txn.Transaction, i int) bool {
				return t.Branches[i].Do == "" || plan.Touched(t, i)
			})
			s.backwardInOrder()
			s.nothingForwardAfterDecision()
		default:
			t.Fatalf("ended %s", s.tx.Status)
		}
	})
}

func tccBranch(t *rapid.T) func(int) txn.Branch {
	kinds := []txn.Branch{
		{Do: "try", Confirm: "confirm", Undo: "cancel"},
		{Do: "do", Undo: "compensate"},
		{Confirm: "async:mail"},
	}
	return func(int) txn.Branch { return rapid.SampledFrom(kinds).Draw(t, "kind") }
}

// A transaction that its caller drives cancels every branch it knows of when the
// caller is not heard of.
func TestOpenTCCProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := txn.Definition{
			Branches: drawGraph(t, func(int) txn.Branch { return txn.Branch{Confirm: "confirm", Undo: "cancel"} }),
		}
		s := newSim(t, tcc.Mode{}, d, true)
		commits := rapid.Bool().Draw(t, "commits")
		if commits {
			s.tx.Status = txn.Committing
		}
		s.run()
		s.never(txn.PhaseDo)
		if commits != (s.tx.Status == txn.Committed) {
			t.Fatalf("commits: %t, ended %s", commits, s.tx.Status)
		}
		if commits {
			s.allOver(txn.PhaseConfirm)
			s.never(txn.PhaseUndo)
			return
		}
		s.allOver(txn.PhaseUndo)
		s.never(txn.PhaseConfirm)
	})
}

// A message that is submitted reaches everybody, and one that is prepared does so
// exactly if its producer says so.
func TestMessageProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		begun := rapid.Bool().Draw(t, "begun")
		d := txn.Definition{Delay: time.Duration(rapid.IntRange(0, 3).Draw(t, "delay")) * time.Second}
		for _, b := range drawGraph(t, func(int) txn.Branch { return txn.Branch{Confirm: "deliver"} }) {
			b.After = nil
			d.Branches = append(d.Branches, b)
		}
		if begun {
			d.Check = &txn.Check{
				Target: "check", After: time.Second,
				Policy: &txn.Policy{Attempts: rapid.IntRange(0, 2).Draw(t, "attempts")},
			}
		}
		s := newSim(t, msg.Mode{}, d, begun)
		s.run()
		refused := s.first(producer(), txn.AnswerRefused) >= 0
		switch {
		case s.tx.Status == txn.Committed && !refused:
			s.allOver(txn.PhaseConfirm)
			if begun && s.first(producer(), txn.AnswerDone) > s.first(confirm(0), "") {
				t.Fatal("delivered before the producer had said so")
			}
		case s.tx.Status == txn.RolledBack && refused:
			s.never(txn.PhaseConfirm)
		default:
			t.Fatalf("refused %t, ended %s", refused, s.tx.Status)
		}
		if s.tx.Status == txn.Committed && s.now.Before(s.tx.Decided.Add(d.Delay)) {
			t.Fatal("delivered before its delay was over")
		}
	})
}

// allOver: every branch has come through the phase, and was never called again
// afterwards.
func (s *sim) allOver(phase txn.Phase) {
	for i := range s.tx.Progress {
		step := txn.Step{Branch: i, Phase: phase}
		if op := s.tx.Op(step); !op.State.Over() {
			s.Fatalf("%v is %+v", step, op)
		}
		s.notAfterDone(step)
	}
}

func (s *sim) notAfterDone(step txn.Step) {
	done := s.first(step, txn.AnswerDone)
	for i, e := range s.log {
		if done >= 0 && i > done && e.Step == step && e.what == "" {
			s.Fatalf("%v was called after it was done", step)
		}
	}
}

func (s *sim) never(phase txn.Phase) {
	for i := range s.tx.Progress {
		if n := s.called(txn.Step{Branch: i, Phase: phase}); n > 0 {
			s.Fatalf("%s of branch %d was called %d times: %s", phase, i, n, s)
		}
	}
}

// forwardInOrder: no branch went forward before those it waits for had.
func (s *sim) forwardInOrder() {
	for i := range s.tx.Progress {
		s.notAfterDone(do(i))
		for _, before := range s.tx.Graph().Before(i) {
			s.inOrder(do(before), do(i))
		}
	}
}

func (s *sim) backwardInOrder() {
	for i := range s.tx.Progress {
		s.notAfterDone(undo(i))
		for _, after := range s.tx.Graph().After(i) {
			s.inOrder(undo(after), undo(i))
		}
	}
}

// inOrder: if both were called, the first was over before the second began. It can
// be over by its hook's word.
func (s *sim) inOrder(earlier, later txn.Step) {
	begun, done := s.first(later, ""), s.first(earlier, txn.AnswerDone)
	if hook := s.first(txn.Step{Branch: earlier.Branch, Phase: txn.PhaseHook}, txn.AnswerDone); done < 0 {
		done = hook
	}
	if begun >= 0 && s.called(earlier) > 0 && (done < 0 || done > begun) {
		s.Fatalf("%v began at %d, %v was done at %d: %s", later, begun, earlier, done, s)
	}
}

// undoneExactly: what may have had an effect was undone, and nothing else.
func (s *sim) undoneExactly(touched func(t *txn.Transaction, i int) bool) {
	for i := range s.tx.Progress {
		over, called := s.tx.Progress[i].Undo.State.Over(), s.called(undo(i)) > 0
		switch {
		case touched(s.tx, i) && !over:
			s.Fatalf("branch %d was not undone: %s", i, s)
		case !touched(s.tx, i) && called:
			s.Fatalf("branch %d was undone without need: %s", i, s)
		case s.called(do(i)) > 0 && s.first(do(i), txn.AnswerRefused) < 0 && s.mayHaveHappened(i) && !over:
			s.Fatalf("branch %d was called and not undone: %s", i, s)
		}
	}
}

// mayHaveHappened reports whether some call was not certainly without effect.
func (s *sim) mayHaveHappened(i int) bool {
	harmless := 0
	for _, e := range s.log {
		if e.Step == do(i) && (e.what == txn.AnswerUnreached || e.what == txn.AnswerHeld) {
			harmless++
		}
	}
	return s.called(do(i)) > harmless
}

func (s *sim) nothingForwardAfterDecision() {
	for _, e := range s.log {
		if e.Phase == txn.PhaseDo && e.what == "" && e.status.Decided() {
			s.Fatalf("%v was called while %s", e.Step, e.status)
		}
	}
}

// notBeforeAll: no call of a phase before all branches had come through another.
func (s *sim) notBeforeAll(phase, other txn.Phase) {
	for i := range s.tx.Progress {
		begun := s.first(txn.Step{Branch: i, Phase: phase}, "")
		for j := range s.tx.Progress {
			if done := s.first(txn.Step{Branch: j, Phase: other}, txn.AnswerDone); begun >= 0 && done > begun {
				s.Fatalf("%s of %d began before %s of %d was done", phase, i, other, j)
			}
		}
	}
}
