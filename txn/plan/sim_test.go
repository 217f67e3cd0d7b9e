package plan_test

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// sim drives one transaction through a mode's plans, with answers, crashes and
// people drawn by chance. It keeps the rules that hold for every mode at every
// moment; what the log shows at the end is for the tests of each mode.
type sim struct {
	*rapid.T
	mode txn.Mode
	tx   *txn.Transaction
	now  time.Time

	flights []txn.Step
	// trouble is how many answers may still be anything but done. It runs out, as
	// troubles do, so that every run can end.
	trouble int
	log     []event
}

// event is what happened at one step: a call, or an answer.
type event struct {
	txn.Step
	what   txn.AnswerKind // empty: called
	status txn.Status
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newSim(t *rapid.T, mode txn.Mode, d txn.Definition, begun bool) *sim {
	d.Mode, d.ID = mode.Name(), "t"
	if err := check.New(check.Limits{}).Definition(&d); err != nil {
		t.Fatalf("bad definition: %v", err)
	}
	if err := mode.Check(&d); err != nil {
		t.Fatalf("bad definition: %v", err)
	}
	status, _ := mode.Start(begun)
	tx := &txn.Transaction{
		Definition: d, Status: status, Created: start, Progress: make([]txn.Progress, len(d.Branches)),
	}
	if d.Timeout > 0 {
		tx.Deadline = start.Add(d.Timeout)
	}
	if status.Decided() {
		tx.Decided = start
	}
	return &sim{T: t, mode: mode, tx: tx, now: start, trouble: rapid.IntRange(0, 30).Draw(t, "trouble")}
}

// run drives the transaction to its end.
func (s *sim) run() {
	for range 2000 {
		if s.tx.Status.Final() {
			return
		}
		s.turn()
	}
	s.Fatalf("no end in sight: %s", s)
}

func (s *sim) turn() {
	p := s.plan()
	s.sensible(p)
	switch {
	case p.Decide != "":
		s.decide(p)
	case p.Park != "":
		s.parked()
	case len(p.Run) > 0:
		for _, step := range p.Run {
			s.call(step)
		}
	case len(s.flights) > 0:
		s.happen(p.Next)
	case !p.Next.IsZero():
		s.until(p.Next)
	default:
		s.Fatalf("nothing to do, nothing to wait for: %s", s)
	}
}

// plan asks the mode, and makes sure that it leaves everything as it was.
func (s *sim) plan() txn.Plan {
	progress, checked := slices.Clone(s.tx.Progress), s.tx.Checked
	p := s.mode.Plan(s.tx, s.now)
	if !reflect.DeepEqual(progress, s.tx.Progress) || !reflect.DeepEqual(checked, s.tx.Checked) {
		s.Fatalf("the plan changed the transaction: %s", s)
	}
	if again := s.mode.Plan(s.tx, s.now); !reflect.DeepEqual(p, again) {
		s.Fatalf("planned twice, got %+v and %+v", p, again)
	}
	return p
}

// sensible holds for every plan.
func (s *sim) sensible(p txn.Plan) {
	if p.Decide != "" && p.Park != "" {
		s.Fatalf("decides and parks: %+v", p)
	}
	if s.tx.Status.Decided() && p.Decide != "" && !p.Decide.Final() {
		s.Fatalf("decided %s, and now %s", s.tx.Status, p.Decide)
	}
	if !p.Next.IsZero() && !p.Next.After(s.now) {
		s.Fatalf("next is %v, and it is %v", p.Next, s.now)
	}
	limit := s.tx.Parallel
	if limit == 0 {
		limit = 16
	}
	if n := len(s.flights) + len(p.Run); len(p.Run) > 0 && n > limit {
		s.Fatalf("%d calls at once, limit %d", n, limit)
	}
	for _, step := range p.Run {
		s.callable(step)
	}
}

func (s *sim) callable(step txn.Step) {
	op := s.tx.Op(step)
	if op.InFlight || op.State.Over() || op.State == txn.Refused || op.Spent || op.Due.After(s.now) {
		s.Fatalf("%v is to be called, but it is %+v", step, op)
	}
}

func (s *sim) call(step txn.Step) {
	s.tx.Op(step).InFlight = true
	s.flights = append(s.flights, step)
	s.log = append(s.log, event{Step: step, status: s.tx.Status})
}

// decide enters a decision as the engine does: a final one waits for the calls under
// way, another one breaks them off.
func (s *sim) decide(p txn.Plan) {
	if p.Decide.Final() {
		for len(s.flights) > 0 {
			s.answer(0)
		}
	}
	for rapid.Bool().Draw(s.T, "break off") && len(s.flights) > 0 {
		s.land(0, txn.Answer{Kind: txn.AnswerPending, After: time.Millisecond})
	}
	if !s.tx.Status.Decided() {
		s.tx.Decided = s.now
	}
	s.tx.Status, s.tx.Reason = p.Decide, p.Reason
}

// parked is seen to by a person, who lets it go on.
func (s *sim) parked() {
	for len(s.flights) > 0 {
		s.answer(0)
	}
	for i := range s.tx.Progress {
		for _, phase := range []txn.Phase{txn.PhaseDo, txn.PhaseConfirm, txn.PhaseUndo, txn.PhaseHook} {
			s.renew(s.tx.Progress[i].Op(phase))
		}
	}
	s.renew(&s.tx.Checked)
}

func (s *sim) renew(op *txn.Op) {
	if op.State == txn.Refused {
		op.State = txn.Idle
	}
	plan.Renew(op)
}

// happen lets a call return, time pass, or the coordinator crash.
func (s *sim) happen(next time.Time) {
	switch rapid.IntRange(0, 9).Draw(s.T, "happens") {
	case 0:
		s.crash()
	case 1:
		if !next.IsZero() {
			s.until(next)
			return
		}
		fallthrough
	default:
		s.answer(rapid.IntRange(0, len(s.flights)-1).Draw(s.T, "flight"))
	}
}

func (s *sim) until(next time.Time) { s.now = next }

// crash loses the calls under way, and what they might have told. The next owner
// knows that they may have been made, and not which others.
func (s *sim) crash() {
	for _, step := range s.flights {
		op := s.tx.Op(step)
		op.InFlight, op.State = false, txn.Unsure
	}
	s.flights = nil
	for i := range s.tx.Progress {
		if op := &s.tx.Progress[i].Do; s.tx.Status == txn.Running && op.State == txn.Idle && s.tx.Branches[i].Do != "" {
			op.State = txn.Unsure
		}
	}
}

// answer lets a call return.
func (s *sim) answer(i int) {
	kinds := []txn.AnswerKind{txn.AnswerDone}
	if s.trouble > 0 && s.tx.Target(s.flights[i]) != "" { // nobody cannot fail
		kinds = []txn.AnswerKind{
			txn.AnswerDone, txn.AnswerRefused, txn.AnswerPending, txn.AnswerFailed, txn.AnswerUnreached, txn.AnswerHeld,
		}
	}
	kind := rapid.SampledFrom(kinds).Draw(s.T, "answer")
	if kind != txn.AnswerDone {
		s.trouble--
	}
	s.land(i, txn.Answer{Kind: kind, Note: "because"})
}

func (s *sim) land(i int, a txn.Answer) {
	step := s.flights[i]
	s.flights = slices.Delete(s.flights, i, i+1)
	plan.Apply(s.tx, step, a, s.now)
	s.log = append(s.log, event{Step: step, what: a.Kind, status: s.tx.Status})
}

func (s *sim) String() string {
	text := fmt.Sprintf("%s, flights %v, trouble %d", s.tx.Status, s.flights, s.trouble)
	for i := range s.tx.Progress {
		text += fmt.Sprintf("\n%s %+v", s.tx.Branches[i].ID, s.tx.Progress[i])
	}
	return text
}

// called counts the calls of a step.
func (s *sim) called(step txn.Step) int {
	n := 0
	for _, e := range s.log {
		if e.Step == step && e.what == "" {
			n++
		}
	}
	return n
}

// when finds the first or last event of a kind; -1 if there is none.
func (s *sim) first(step txn.Step, what txn.AnswerKind) int {
	return slices.IndexFunc(s.log, func(e event) bool { return e.Step == step && e.what == what })
}

// drawGraph draws branches that wait for earlier ones.
func drawGraph(t *rapid.T, branch func(i int) txn.Branch) []txn.Branch {
	branches := []txn.Branch{}
	n := rapid.IntRange(1, 8).Draw(t, "branches")
	for i := range n {
		b := branch(i)
		b.ID = fmt.Sprintf("b%d", i)
		for j := range i {
			if rapid.IntRange(0, 2).Draw(t, "edge") == 0 {
				b.After = append(b.After, fmt.Sprintf("b%d", j))
			}
		}
		b.Policy = drawPolicy(t)
		branches = append(branches, b)
	}
	return rapid.Permutation(branches).Draw(t, "order")
}

func drawPolicy(t *rapid.T) *txn.Policy {
	switch rapid.IntRange(0, 4).Draw(t, "policy") {
	case 0:
		return nil
	case 1:
		return &txn.Policy{Backoff: time.Second}
	case 2:
		return &txn.Policy{Attempts: 2, Then: txn.Park}
	case 3:
		return &txn.Policy{Attempts: 2}
	default:
		return &txn.Policy{Attempts: 2, Then: txn.Hook, Hook: "hook"}
	}
}
