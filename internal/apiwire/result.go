package apiwire

import (
	"errors"

	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
)

// Result writes what came of waiting for a transaction. An error that says nothing
// of the transaction itself is returned.
func Result(id string, r txn.Result, err error) (*bedrockv1.Result, error) {
	m := &bedrockv1.Result{Id: id, Outcome: string(r.Outcome), Reason: r.Reason, ReturnedBytes: r.Returned}
	if err == nil {
		return m, nil
	}
	if e, ok := errors.AsType[*txn.RolledBackError](err); ok {
		m.Outcome, m.Reason = string(txn.RolledBack), e.Reason
		return m, nil
	}
	if e, ok := errors.AsType[*txn.ParkedError](err); ok {
		m.Outcome, m.Parked = string(txn.InDoubt), e.Reason
		return m, nil
	}
	if e, ok := errors.AsType[*txn.InDoubtError](err); ok {
		m.Outcome, m.Pending = string(txn.InDoubt), e.Err != nil
		return m, nil
	}
	return nil, err
}

// ResultOf reads what came of waiting; pending says to wait again.
func ResultOf(m *bedrockv1.Result) (r txn.Result, pending bool, err error) {
	r = txn.Result{
		ID: m.GetId(), Outcome: txn.Outcome(m.GetOutcome()), Reason: m.GetReason(), Parked: m.GetParked(),
		Returned: m.GetReturnedBytes(),
	}
	switch {
	case r.Parked != "", r.Outcome == txn.Committed || r.Outcome == txn.RolledBack:
		return r, false, r.Err()
	default:
		r.Outcome = txn.InDoubt // also what a newer server says that we do not know
		return r, m.GetPending(), r.Err()
	}
}
