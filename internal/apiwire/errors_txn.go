package apiwire

import (
	"errors"

	"connectrpc.com/connect"

	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// The kinds of problems with a transaction that say more than a sentinel.
const (
	kindField      = "field"
	kindRolledBack = "rolled_back"
	kindParked     = "parked"
	kindInDoubt    = "in_doubt"
)

// transactionMeanings lists the sentinels of package txn.
func transactionMeanings() []meaning {
	return []meaning{
		{"not_found", connect.CodeNotFound, txn.ErrNotFound},
		{"exists", connect.CodeAlreadyExists, txn.ErrExists},
		{"decided", connect.CodeFailedPrecondition, txn.ErrDecided},
		{"action", connect.CodeFailedPrecondition, txn.ErrAction},
		{"closed", connect.CodeUnavailable, txn.ErrClosed},
		{kindUnavailable, connect.CodeUnavailable, txn.ErrUnavailable},
		{kindUnavailable, connect.CodeUnavailable, driver.ErrUnavailable},
	}
}

// TransactionError writes an error of a coordinator; nil if it means nothing to a
// client.
func TransactionError(err error) *connect.Error {
	if e, ok := errors.AsType[*txn.InDoubtError](err); ok { // first: what it wraps is not certain
		return failure(connect.CodeUnknown, err, &bedrockv1.Problem{
			Kind: kindInDoubt, Id: e.ID, Reason: reasonOfDoubt(e),
		})
	}
	if e := Invalid(err); e != nil {
		return e
	}
	if e, ok := errors.AsType[*txn.RolledBackError](err); ok {
		return failure(connect.CodeFailedPrecondition, err, &bedrockv1.Problem{
			Kind: kindRolledBack, Id: e.ID, Reason: e.Reason,
		})
	}
	if e, ok := errors.AsType[*txn.ParkedError](err); ok {
		return failure(connect.CodeFailedPrecondition, err, &bedrockv1.Problem{
			Kind: kindParked, Id: e.ID, Reason: e.Reason,
		})
	}
	if m, ok := lookUp(transactionMeanings(), err); ok {
		return failure(m.code, err, &bedrockv1.Problem{Kind: m.kind})
	}
	return contextError(err)
}

// reasonOfDoubt is why an outcome is not known; that it is not is said by whoever tells it.
func reasonOfDoubt(e *txn.InDoubtError) string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

// doubtOf reads a doubt. Without a reason the transaction was abandoned.
func doubtOf(p *bedrockv1.Problem) error {
	e := &txn.InDoubtError{ID: p.GetId()}
	if reason := p.GetReason(); reason != "" {
		e.Err = errors.New(reason)
	}
	return e
}

// TransactionErrorOf reads the error of a call. Answered says that the server
// itself answered: what it says is certain.
func TransactionErrorOf(err error) (answered bool, meant error) {
	all, text := problemsOf(err)
	if len(all) == 0 {
		return false, err
	}
	p := all[0]
	switch p.GetKind() {
	case "":
		return false, err
	case kindField:
		return true, invalidOf(all)
	case kindRolledBack:
		return true, &txn.RolledBackError{ID: p.GetId(), Reason: p.GetReason()}
	case kindParked:
		return true, &txn.ParkedError{ID: p.GetId(), Reason: p.GetReason()}
	case kindInDoubt:
		return true, doubtOf(p)
	}
	if sentinel := named(transactionMeanings(), p.GetKind()); sentinel != nil {
		return true, &known{text, sentinel}
	}
	return true, err
}
