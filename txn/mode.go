package txn

import "time"

// Mode is a kind of transaction: a few pure functions. A mode does no I/O and
// reads no clock, so every state it can meet can be tested.
type Mode interface {
	// Name is what definitions call it.
	Name() string
	// Check refuses a definition that makes no sense, with a *InvalidError.
	Check(d *Definition) error
	// Start is the status of a submitted transaction, Running or Committing, and of
	// one that was begun, always Open; ok is false where the mode lacks that.
	Start(begun bool) (s Status, ok bool)
	// Plan says what comes next.
	Plan(t *Transaction, now time.Time) Plan
	// Phases are those in which participants are called.
	Phases() []Phase
	// Op names the operation of a phase in the mode's words.
	Op(p Phase) string
	// Fields are the mode's words for fields of a definition, by the names that these have
	// in JSON; those that it calls the same are not there.
	Fields() map[string]string
}

// Plan is what comes next for a transaction. At most one of Decide and Park is
// set, and then nothing is run before it is durable.
type Plan struct {
	// Decide is the status to move to.
	Decide Status
	// Reason goes with Decide when it rolls back.
	Reason string
	// Park leaves the transaction to a person, and says why.
	Park string
	// Run lists calls to make now. Calls under way are not listed again.
	Run []Step
	// Next is when to plan again if nothing else happens before; zero: when a call
	// returns.
	Next time.Time
}

// Step is one call.
type Step struct {
	Branch int // index; -1 for PhaseCheck
	Phase  Phase
}
