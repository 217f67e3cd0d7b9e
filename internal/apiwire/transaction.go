package apiwire

import (
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/modes"
)

// Transaction writes a transaction, in the words of its mode.
func Transaction(t *txn.Transaction) *bedrockv1.Transaction {
	m := &bedrockv1.Transaction{
		Definition: storedDefinition(&t.Definition),
		Status:     string(t.Status), Reason: t.Reason, Parked: t.Parked, Waits: t.Waits,
		Created: Timestamp(t.Created), Updated: Timestamp(t.Updated), Finished: Timestamp(t.Finished),
		Decided: Timestamp(t.Decided), Deadline: Timestamp(t.Deadline), Due: Timestamp(t.Due),
		Checked: checked(&t.Checked), Dropped: small(t.Dropped),
		Owner: t.Owner, Epoch: t.Epoch, Revision: t.Revision,
	}
	m.Progress = progress(t)
	m.Attempts = make([]*bedrockv1.Attempt, len(t.Attempts))
	for i := range t.Attempts {
		m.Attempts[i] = attempt(&t.Attempts[i])
	}
	return m
}

// checked writes how the question to the producer went.
func checked(o *txn.Op) *bedrockv1.Operation {
	m := operation(o)
	if m != nil {
		m.Op = string(txn.PhaseCheck)
	}
	return m
}

// progress writes what became of the branches. Most have one operation that was called.
func progress(t *txn.Transaction) []*bedrockv1.Progress {
	all, operations := make([]*bedrockv1.Progress, len(t.Progress)), make([]*bedrockv1.Operation, 0, len(t.Progress))
	for i := range t.Progress {
		all[i] = new(bedrockv1.Progress)
		if i < len(t.Branches) {
			all[i].Id = t.Branches[i].ID
		}
		begin := len(operations)
		for _, phase := range txn.BranchPhases() {
			if o := operation(t.Progress[i].Op(phase)); o != nil {
				o.Op = modes.Word(t.Mode, phase)
				operations = append(operations, o)
			}
		}
		all[i].Operations = slices.Clip(operations[begin:])
	}
	return all
}

// progressOf reads it.
func progressOf(mode string, m *bedrockv1.Progress) (p txn.Progress) {
	for _, o := range m.GetOperations() {
		for _, phase := range txn.BranchPhases() {
			if modes.Word(mode, phase) == o.GetOp() {
				*p.Op(phase) = operationOf(o)
			}
		}
	}
	return p
}

// TransactionOf reads a transaction.
func TransactionOf(m *bedrockv1.Transaction) (*txn.Transaction, error) {
	definition, err := storedDefinitionOf(m.GetDefinition())
	if err != nil {
		return nil, err
	}
	t := &txn.Transaction{
		Definition: definition,
		Status:     txn.Status(m.GetStatus()), Reason: m.GetReason(), Parked: m.GetParked(), Waits: m.GetWaits(),
		Created: Time(m.GetCreated()), Updated: Time(m.GetUpdated()), Finished: Time(m.GetFinished()),
		Decided: Time(m.GetDecided()), Deadline: Time(m.GetDeadline()), Due: Time(m.GetDue()),
		Checked: operationOf(m.GetChecked()), Dropped: int(m.GetDropped()),
		Owner: m.GetOwner(), Epoch: m.GetEpoch(), Revision: m.GetRevision(),
	}
	t.Progress = slices.Grow(t.Progress, len(m.GetProgress()))
	t.Attempts = slices.Grow(t.Attempts, len(m.GetAttempts()))
	for i, p := range m.GetProgress() {
		t.Progress = append(t.Progress, progressOf(t.Mode, p))
		if i >= len(t.Branches) { // its mode has parts that are not known here
			t.Branches = append(t.Branches, txn.Branch{ID: p.GetId()})
		}
	}
	for _, a := range m.GetAttempts() {
		t.Attempts = append(t.Attempts, attemptOf(a))
	}
	return t, nil
}

// operation writes what became of an operation; nil if it was never called.
func operation(o *txn.Op) *bedrockv1.Operation {
	m := &bedrockv1.Operation{
		State: string(o.State), Tries: small(o.Tries), Calls: small(o.Calls), Due: Timestamp(o.Due),
		Note: o.Note, Spent: o.Spent, InFlight: o.InFlight,
		Lasting: small(o.Lasting), Lacking: small(o.Lacking), Held: o.Held,
	}
	if o.Result != nil {
		m.Body = &bedrockv1.Operation_ResultBytes{ResultBytes: o.Result}
	}
	untouched := o.State == txn.Idle && o.Calls == 0 && m.Due == nil && m.Note == "" && m.Body == nil
	if untouched && !m.Spent && !m.InFlight && !m.Held {
		return nil
	}
	return m
}

func operationOf(m *bedrockv1.Operation) txn.Op {
	o := txn.Op{
		State: txn.OpState(m.GetState()), Tries: int(m.GetTries()), Calls: int(m.GetCalls()), Due: Time(m.GetDue()),
		Note: m.GetNote(), Spent: m.GetSpent(), InFlight: m.GetInFlight(),
		Lasting: int(m.GetLasting()), Lacking: int(m.GetLacking()), Held: m.GetHeld(),
	}
	if body, ok := m.GetBody().(*bedrockv1.Operation_ResultBytes); ok {
		o.Result = body.ResultBytes
	}
	return o
}

func attempt(a *txn.Attempt) *bedrockv1.Attempt {
	return &bedrockv1.Attempt{
		Branch: a.Branch, Op: a.Op, Number: small(a.Number), Target: string(a.Target), At: Timestamp(a.At),
		Took: duration(a.Took), Answer: a.Answer, Excerpt: a.Excerpt, By: a.By,
		Count: small(a.Count), Until: Timestamp(a.Until),
	}
}

func attemptOf(m *bedrockv1.Attempt) txn.Attempt {
	return txn.Attempt{
		Branch: m.GetBranch(), Op: m.GetOp(), Number: int(m.GetNumber()), Target: txn.Target(m.GetTarget()),
		At: Time(m.GetAt()), Took: m.GetTook().AsDuration(),
		Answer: m.GetAnswer(), Excerpt: m.GetExcerpt(), By: m.GetBy(),
		Count: int(m.GetCount()), Until: Time(m.GetUntil()),
	}
}

// Cursor writes a place in the list; nil for its end.
func Cursor(c driver.Cursor) *bedrockv1.Cursor {
	if c.ID == "" {
		return nil
	}
	return &bedrockv1.Cursor{Created: Timestamp(c.Created), Id: c.ID}
}

// CursorOf reads a place in the list.
func CursorOf(m *bedrockv1.Cursor) driver.Cursor {
	return driver.Cursor{Created: Time(m.GetCreated()), ID: m.GetId()}
}

// Timestamp writes a time; nil for none.
func Timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// Time reads a time; zero for none.
func Time(m *timestamppb.Timestamp) time.Time {
	if m == nil {
		return time.Time{}
	}
	return m.AsTime()
}
