package txns

import (
	"time"

	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
	"github.com/bedrock-go/bedrock/txn"
)

// kind says what an event is.
type kind string

const (
	// Of clients.
	kindBegun  kind = "begun"  // a transaction is about to be asked for
	kindTold   kind = "told"   // what its client was told at last
	kindNever  kind = "never"  // its client was told that it was not accepted
	kindCommit kind = "commit" // a commit was asked for by hand
	kindParked kind = "parked" // its client was told that it is parked
	kindAct    kind = "act"    // and did something about it

	// Of the service.
	kindCall kind = "call" // a participant was called

	// Of the controller.
	kindBegin  kind = "begin"
	kindFinish kind = "finish"
	kindFault  kind = "fault"
	kindDoubt  kind = "doubt"
	kindRecord kind = "record" // a transaction, as the store has it at the end
	kindEffect kind = "effect" // what took effect
	kindSums   kind = "sums"   // of all accounts
	kindUsage  kind = "usage"  // what a process took at most, or at rest
	kindCalm   kind = "calm"   // from when on nothing is broken any more
)

// event is one line of the history.
type event struct {
	At   time.Duration `json:"at"`
	Kind kind          `json:"k"`

	ID     string      `json:"id,omitempty"`
	Fate   fate        `json:"fate,omitempty"`
	Mode   string      `json:"m,omitempty"`
	Result txn.Outcome `json:"r,omitempty"`
	Parked string      `json:"p,omitempty"`
	Text   string      `json:"x,omitempty"`
	Failed bool        `json:"e,omitempty"`

	Branch  string        `json:"b,omitempty"`
	Op      string        `json:"op,omitempty"`
	Attempt int           `json:"n,omitempty"`
	Epoch   int64         `json:"ep,omitempty"`
	From    time.Duration `json:"from,omitempty"`
	Answer  string        `json:"a,omitempty"`
	// Again says that the network, not the coordinator, has delivered a call once more.
	Again bool `json:"again,omitempty"`
	// Late is by how much a commit came after the deadline; negative: before.
	Late time.Duration `json:"late,omitempty"`

	// Counts: money, files.
	Numbers map[string]int64 `json:"num,omitempty"`

	Window *nemesis.Window `json:"w,omitempty"`
	Plan   *settings       `json:"plan,omitempty"`
}

// settings are what the oracles have to know of a run.
type settings struct {
	Name string `json:"name"`
	Seed uint64 `json:"seed"`
}

// The answers of participants.
const (
	answerDone    = "done"
	answerRefused = "refused"
	answerFailed  = "failed"
)
