package txview

import (
	"encoding/json"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// Transaction is everything known about one transaction. What is not known, or
// does not apply, is left out.
type Transaction struct {
	ID       string            `json:"id"`
	Mode     string            `json:"mode"`
	Name     string            `json:"name,omitempty"`
	Status   txn.Status        `json:"status"`
	Reason   string            `json:"reason,omitempty"`
	Parked   string            `json:"parked,omitempty"`
	Waits    string            `json:"waits,omitempty"`
	Created  time.Time         `json:"created"`
	Updated  time.Time         `json:"updated,omitzero"`
	Decided  time.Time         `json:"decided,omitzero"`
	Finished time.Time         `json:"finished,omitzero"`
	Deadline time.Time         `json:"deadline,omitzero"`
	Due      time.Time         `json:"due,omitzero"`
	Owner    string            `json:"owner,omitempty"`
	Epoch    int64             `json:"epoch"`
	Revision int64             `json:"revision"`
	Headers  map[string]string `json:"headers,omitempty"`
	Payload  *Body             `json:"payload,omitempty"`
	Branches []Branch          `json:"branches,omitempty"`
	Attempts []Attempt         `json:"attempts,omitempty"`
	Dropped  int               `json:"dropped_attempts,omitempty"`
}

// Branch is one participant's part.
type Branch struct {
	ID         string      `json:"id"`
	After      []string    `json:"after,omitempty"`
	Payload    *Body       `json:"payload,omitempty"`
	Operations []Operation `json:"operations,omitempty"`
}

// Operation is what became of one operation of a branch.
type Operation struct {
	Phase  txn.Phase  `json:"phase"`
	Target txn.Target `json:"target,omitempty"`
	State  string     `json:"state"`
	Calls  int        `json:"calls"`
	Note   string     `json:"note,omitempty"`
	Result *Body      `json:"result,omitempty"`
}

// Attempt is one call, several equal ones one after another, or one intervention of a
// person.
type Attempt struct {
	At      time.Time  `json:"at"`
	Branch  string     `json:"branch,omitempty"`
	Op      string     `json:"op"`
	Number  int        `json:"number,omitempty"`
	Count   int        `json:"count,omitempty"`
	Until   time.Time  `json:"until,omitzero"`
	Target  txn.Target `json:"target,omitempty"`
	Answer  string     `json:"answer"`
	TookMS  float64    `json:"took_ms,omitempty"`
	Excerpt string     `json:"excerpt,omitempty"`
	By      string     `json:"by,omitempty"`
}

// Body is a payload or a result: JSON as it is, anything else as its bytes in
// base64.
type Body []byte

// MarshalJSON implements [json.Marshaler].
func (b Body) MarshalJSON() ([]byte, error) {
	if json.Valid(b) {
		return b, nil
	}
	return json.Marshal(map[string][]byte{"base64": b})
}

// Of describes a transaction.
func Of(t *txn.Transaction) Transaction {
	v := Transaction{
		ID: t.ID, Mode: t.Mode, Name: t.Name, Status: t.Status, Reason: t.Reason, Parked: t.Parked, Waits: t.Waits,
		Created: t.Created, Updated: t.Updated, Decided: t.Decided, Finished: t.Finished, Deadline: t.Deadline, Due: t.Due,
		Owner: t.Owner, Epoch: t.Epoch, Revision: t.Revision,
		Headers: t.Headers, Payload: bodyOf(t.Payload), Dropped: t.Dropped,
	}
	if t.Check != nil {
		v.Branches = append(v.Branches, Branch{Operations: []Operation{operation(t, txn.Step{Branch: -1, Phase: txn.PhaseCheck})}})
	}
	for i := range t.Branches {
		v.Branches = append(v.Branches, branch(t, i))
	}
	for i := range t.Attempts {
		v.Attempts = append(v.Attempts, attempt(&t.Attempts[i]))
	}
	return v
}

func branch(t *txn.Transaction, i int) Branch {
	b := Branch{ID: t.Branches[i].ID, After: t.Branches[i].After, Payload: bodyOf(t.Branches[i].Payload)}
	for _, phase := range []txn.Phase{txn.PhaseDo, txn.PhaseConfirm, txn.PhaseUndo, txn.PhaseHook} {
		s := txn.Step{Branch: i, Phase: phase}
		if t.Target(s) != "" {
			b.Operations = append(b.Operations, operation(t, s))
		}
	}
	return b
}

func operation(t *txn.Transaction, s txn.Step) Operation {
	o := Operation{Phase: s.Phase, Target: t.Target(s), State: "idle"}
	if s.Branch >= len(t.Progress) {
		return o
	}
	op := t.Op(s)
	o.Calls, o.Note, o.Result = op.Calls, op.Note, bodyOf(op.Result)
	if op.State != txn.Idle {
		o.State = string(op.State)
	}
	return o
}

func attempt(a *txn.Attempt) Attempt {
	return Attempt{
		At: a.At, Branch: a.Branch, Op: a.Op, Number: a.Number, Target: a.Target, Answer: a.Answer,
		TookMS: float64(a.Took.Microseconds()) / 1000, Excerpt: a.Excerpt, By: a.By, Count: a.Count, Until: a.Until,
	}
}

func bodyOf(content []byte) *Body {
	if len(content) == 0 {
		return nil
	}
	b := Body(content)
	return &b
}
