package txn

import (
	"bytes"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// Status is how far a transaction has come.
type Status = driver.Status

// The states of a transaction; the last three are final.
const (
	Open        = driver.Open
	Running     = driver.Running
	Committing  = driver.Committing
	RollingBack = driver.RollingBack
	Committed   = driver.Committed
	RolledBack  = driver.RolledBack
	InDoubt     = driver.InDoubt
)

// Transaction is everything known about one transaction.
type Transaction struct {
	Definition

	Status Status
	// Reason says why it is rolled back.
	Reason string
	// Parked says why it waits for a person; empty: it does not.
	Parked string
	// Waits names the target whose latest call failed or was held back by a breaker, while
	// nobody drives the transaction: it goes on at Due, or as soon as that target is well.
	Waits string

	Created  time.Time
	Updated  time.Time
	Finished time.Time // zero while not final
	Decided  time.Time // zero while not decided
	Deadline time.Time // zero: none
	Due      time.Time // when it is looked at again; zero: never

	// Progress has one entry per branch, in the definition's order.
	Progress []Progress
	// Checked is how the question to the producer went.
	Checked Op
	// Attempts are the calls made and the interventions of people, oldest first. Equal
	// calls of a branch, one after another, are one entry.
	Attempts []Attempt
	// Dropped counts attempts left out of the middle.
	Dropped int

	Owner    string
	Epoch    int64
	Revision int64

	graph *Graph
}

// Graph is the order of the branches. The definition must have been checked.
func (t *Transaction) Graph() *Graph {
	if t.graph == nil || t.graph.Len() != len(t.Branches) {
		t.graph, _ = NewGraph(t.Branches) // a checked definition has no cycles
	}
	return t.graph
}

// Op is the operation of a step, for reading and writing.
func (t *Transaction) Op(s Step) *Op {
	if s.Phase == PhaseCheck {
		return &t.Checked
	}
	return t.Progress[s.Branch].Op(s.Phase)
}

// Target is who is called by a step.
func (t *Transaction) Target(s Step) Target {
	switch s.Phase {
	case PhaseCheck:
		return t.Check.Target
	case PhaseDo:
		return t.Branches[s.Branch].Do
	case PhaseConfirm:
		return t.Branches[s.Branch].Confirm
	case PhaseUndo:
		return t.Branches[s.Branch].Undo
	default:
		return t.Policy(s).Hook
	}
}

// Policy is how a step is called, as it was asked for; nil asks for the defaults.
func (t *Transaction) Policy(s Step) Policy {
	var p *Policy
	if s.Phase == PhaseCheck {
		p = t.Check.Policy
	} else {
		p = t.Branches[s.Branch].Policy
	}
	if p == nil {
		return Policy{}
	}
	return *p
}

// Progress is what became of one branch.
type Progress struct {
	Do      Op `json:"do,omitzero"`
	Confirm Op `json:"confirm,omitzero"`
	Undo    Op `json:"undo,omitzero"`
	Hook    Op `json:"hook,omitzero"`
}

// Op is what became of one operation of a branch.
type Op struct {
	State OpState `json:"s,omitempty"`
	// Tries counts calls without a definite answer since the last success or
	// intervention; Calls counts all.
	Tries int `json:"t,omitempty"`
	Calls int `json:"c,omitempty"`
	// Due is when the operation may be called again.
	Due time.Time `json:"d,omitzero"`
	// Result is what the participant returned.
	Result []byte `json:"r,omitempty"`
	// Note is the last thing worth saying: an error, or why a result was dropped.
	Note string `json:"n,omitempty"`
	// Spent means that no attempts are left.
	Spent bool `json:"x,omitempty"`
	// Lasting counts the last answers in a row that asking again does not change.
	Lasting int `json:"l,omitempty"`
	// Lacking counts in a row how often whoever had the transaction could not make the
	// call, because the function is registered elsewhere, if at all.
	Lacking int `json:"k,omitempty"`
	// Held means that it was its turn, and that it was not called because its target is
	// down, or Lacking.
	Held bool `json:"h,omitempty"`

	// InFlight is set by the coordinator while a call is under way. It is not kept.
	InFlight bool `json:"-"`
	// Early is when it was due, for a call made before that time because its target has
	// recovered or is to be tried. It is not kept.
	Early time.Time `json:"-"`
}

// OpState is how far one operation has come.
type OpState string

const (
	// Idle means that it was not called yet.
	Idle OpState = ""
	// Unsure means that it was called, or perhaps called, without a definite answer.
	Unsure OpState = "unsure"
	// Done means that the participant has said so.
	Done OpState = "done"
	// Refused means that the participant has said that it will not, and has done nothing.
	Refused OpState = "refused"
	// Skipped means that it counts as done because a hook or a person said so.
	Skipped OpState = "skipped"
)

// Over reports whether the operation needs no more calls to count as done.
func (s OpState) Over() bool { return s == Done || s == Skipped }

// Phase says which of a branch's operations is meant.
type Phase string

// The phases. PhaseHook asks what to do about an operation without attempts left,
// PhaseCheck asks a message's producer.
const (
	PhaseDo      Phase = "do"
	PhaseConfirm Phase = "confirm"
	PhaseUndo    Phase = "undo"
	PhaseHook    Phase = "hook"
	PhaseCheck   Phase = "check"
)

// Op is the operation of a phase, for reading and writing.
func (p *Progress) Op(phase Phase) *Op {
	switch phase {
	case PhaseDo:
		return &p.Do
	case PhaseConfirm:
		return &p.Confirm
	case PhaseUndo:
		return &p.Undo
	default:
		return &p.Hook
	}
}

// Attempt is one call, or one intervention of a person. A call whose coordinator was lost
// before it was written down is not among them; see [Call.Attempt].
type Attempt struct {
	Branch string        `json:"b,omitempty"`
	Op     string        `json:"o"`
	Number int           `json:"n,omitempty"`
	Target Target        `json:"t,omitempty"`
	At     time.Time     `json:"a"`
	Took   time.Duration `json:"d,omitempty"`
	// Count is how many equal calls, one after another, this entry stands for: they
	// differ in nothing but time, number and caller. 0 means one. Number and At are
	// those of the first; Took and By are those of the last, which began at Until.
	Count int       `json:"m,omitempty"`
	Until time.Time `json:"u,omitzero"`
	// Answer is one of done, refused, pending, failed, unreached, or the intervention's name.
	Answer string `json:"r"`
	// Excerpt is the beginning of what was returned or of the error, or all of the reason.
	Excerpt string `json:"x,omitempty"`
	// By is the replica that called, or the person.
	By string `json:"w,omitempty"`
}

// Times is how many calls the entry stands for, one at least.
func (a *Attempt) Times() int { return max(a.Count, 1) }

// Last is when the last of them began.
func (a *Attempt) Last() time.Time {
	if a.Until.IsZero() {
		return a.At
	}
	return a.Until
}

// Outcome is what is known about the end of a transaction.
type Outcome = driver.Status

// Result is what a transaction came to.
type Result struct {
	ID string
	// Outcome is Committed, RolledBack or InDoubt, which means not known (yet). It is
	// empty if the transaction was never accepted.
	Outcome Outcome
	// Reason says why it is rolled back or in doubt.
	Reason string
	// Parked says why it waits for a person; empty: it does not.
	Parked string
	// Returned holds what the branches going forward returned, by branch ID.
	Returned map[string][]byte
}

// Result sums the transaction up, in memory of its own.
func (t *Transaction) Result() Result {
	r := Result{ID: t.ID, Outcome: InDoubt, Reason: t.Reason, Parked: t.Parked}
	if t.Status.Final() {
		r.Outcome = t.Status
	}
	r.Returned = t.returned()
	return r
}

func (t *Transaction) returned() map[string][]byte {
	var returned map[string][]byte
	for i := range t.Progress {
		if result := t.Progress[i].Do.Result; result != nil {
			if returned == nil {
				returned = make(map[string][]byte, len(t.Progress))
			}
			returned[t.Branches[i].ID] = bytes.Clone(result)
		}
	}
	return returned
}
