package txn

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// Definition is what somebody asks for. Builders in packages saga, tcc and msg
// make them; zero fields mean the mode's default.
type Definition struct {
	// ID identifies the transaction. Submitting the same content under one ID again
	// is harmless; other content is refused. Empty: the coordinator makes one up.
	ID   string `json:"id,omitempty"`
	Mode string `json:"mode"`
	// Name is for people and metrics, such as "order".
	Name string `json:"name,omitempty"`
	// Payload goes to every branch that has none of its own.
	Payload  []byte   `json:"payload,omitempty"`
	Branches []Branch `json:"branches,omitempty"`

	// Timeout rolls the transaction back if it is not decided by then, by the
	// store's clock.
	Timeout time.Duration `json:"timeout,omitempty"`
	// Parallel bounds how many branches are called at once.
	Parallel int `json:"parallel,omitempty"`
	// Recovery is what a saga does about a step that cannot go forward.
	Recovery Recovery `json:"recovery,omitempty"`
	// Delay holds a message back after it was submitted.
	Delay time.Duration `json:"delay,omitempty"`
	// Check asks a producer what became of its local transaction.
	Check *Check `json:"check,omitempty"`
	// Headers travel with every call, the trace context among them.
	Headers map[string]string `json:"headers,omitempty"`
}

// Branch is one participant's part.
type Branch struct {
	ID string `json:"id"`
	// After names the branches that must have gone forward before this one, and are
	// undone after it.
	After   []string `json:"after,omitempty"`
	Do      Target   `json:"do,omitempty"`
	Confirm Target   `json:"confirm,omitempty"`
	Undo    Target   `json:"undo,omitempty"`
	// Payload is the body of the calls; nil takes the definition's, an empty one does
	// not.
	Payload []byte `json:"payload,omitzero"`
	// Use puts fields of earlier results into the payload, which must be a JSON
	// object: {"paymentId": "charge.id"} sets paymentId to the field id of what
	// branch charge returned.
	Use    map[string]string `json:"use,omitempty"`
	Policy *Policy           `json:"policy,omitempty"`
}

// Recovery is what a saga does about a step that cannot go forward.
type Recovery string

const (
	// Backward undoes what was done. It is the default.
	Backward Recovery = "backward"
	// Forward goes on trying; such a saga is never rolled back.
	Forward Recovery = "forward"
)

// Check says how to ask a message's producer whether its local transaction was
// committed.
type Check struct {
	Target Target `json:"target"`
	// After is how long to wait for the producer's word. Default 10 s.
	After  time.Duration `json:"after,omitempty"`
	Policy *Policy       `json:"policy,omitempty"`
}

// Policy is how a branch is called. Zero fields mean the defaults.
type Policy struct {
	// Timeout bounds one call. Default 10 s.
	Timeout time.Duration `json:"timeout,omitempty"`
	// Backoff is the pause after the first failure; it doubles up to MaxBackoff.
	// Defaults 500 ms and 1 min.
	Backoff    time.Duration `json:"backoff,omitempty"`
	MaxBackoff time.Duration `json:"maxBackoff,omitempty"`
	// Attempts bounds the failed calls of one operation, to a billion at most. 0: as long as
	// it takes.
	Attempts int `json:"attempts,omitempty"`
	// Then says what follows when Attempts are used up. Default: Park; a saga's
	// step that goes forward: Compensate.
	Then Fallback `json:"then,omitempty"`
	// Hook is asked what to do when Then is Hook; not through async:, which brings no
	// answer. Its calls' Op names the operation that has no attempts left: hook:action. It
	// is a question, to be answered as things stand each time, so it wants no barrier.
	Hook Target `json:"hook,omitempty"`
}

// Fallback says what follows when a branch has used up its attempts.
type Fallback string

const (
	// Compensate rolls the transaction back. Only for calls that go forward.
	Compensate Fallback = "compensate"
	// Park leaves the transaction to a person.
	Park Fallback = "park"
	// Hook asks another participant: done means that the branch counts as done, a
	// refusal that the transaction is rolled back, or parked once it is decided.
	Hook Fallback = "hook"
)

// Branch finds a branch by its ID.
func (d *Definition) Branch(id string) (int, bool) {
	for i := range d.Branches {
		if d.Branches[i].ID == id {
			return i, true
		}
	}
	return 0, false
}

// SplitUse splits an entry of Use, such as "charge.id", into the branch and the path in its
// result.
func SplitUse(from string) (branch, path string) {
	branch, path, _ = strings.Cut(from, ".")
	return branch, path
}

// PayloadOf is the body of a branch's calls.
func (d *Definition) PayloadOf(i int) []byte {
	if p := d.Branches[i].Payload; p != nil {
		return p
	}
	return d.Payload
}

// Encode turns a value into a payload. Bytes and JSON are copied as they are.
func Encode(v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case []byte:
		return bytes.Clone(v), nil
	case json.RawMessage:
		return bytes.Clone(v), nil
	default:
		return json.Marshal(v)
	}
}
