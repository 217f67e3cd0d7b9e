package wire

import (
	"errors"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/txn"
)

const kindHeld = "held"

// lockMeanings lists the sentinels of package lock/driver. What is unsupported is
// refused as well, so it comes first.
func lockMeanings() []meaning {
	return []meaning{
		{kindHeld, connect.CodeAlreadyExists, driver.ErrHeld},
		{"lost", connect.CodeAborted, driver.ErrLost},
		{"unsupported", connect.CodeUnimplemented, driver.ErrUnsupported},
		{"refused", connect.CodeFailedPrecondition, driver.ErrRefused},
		{kindUnavailable, connect.CodeUnavailable, driver.ErrUnavailable},
	}
}

// LockError writes an error of a lock backend; nil if nothing is known of it.
func LockError(err error) *connect.Error {
	if e, ok := errors.AsType[*txn.FieldError](err); ok {
		return failure(connect.CodeInvalidArgument, err, &bedrockv1.Problem{Kind: kindField, Field: e.Field, Reason: e.Problem})
	}
	if e, ok := errors.AsType[*driver.HeldError](err); ok {
		told := &driver.HeldError{Owner: driver.PublicOwner(e.Owner), TTL: e.TTL} // the owner itself is the key
		return failure(connect.CodeAlreadyExists, told,
			&bedrockv1.Problem{Kind: kindHeld, Owner: told.Owner, Ttl: durationpb.New(e.TTL)})
	}
	if m, ok := lookUp(lockMeanings(), err); ok {
		return failure(m.code, err, &bedrockv1.Problem{Kind: m.kind})
	}
	return ended(err)
}

// LockErrorOf reads the error of a call. Answered says that the server itself
// answered.
func LockErrorOf(err error) (answered bool, meant error) {
	p, text := problem(err)
	switch p.GetKind() {
	case "":
		return false, err
	case kindHeld:
		return true, &driver.HeldError{Owner: p.GetOwner(), TTL: p.GetTtl().AsDuration()}
	case kindField:
		return true, &known{text, driver.ErrRefused}
	}
	if sentinel := named(lockMeanings(), p.GetKind()); sentinel != nil {
		return true, &known{text, sentinel}
	}
	return true, err
}

// Renewal writes what became of one grant.
func Renewal(err error) *bedrockv1.Renewal {
	if err == nil {
		return &bedrockv1.Renewal{State: "renewed"}
	}
	m, ok := lookUp(lockMeanings(), err)
	if !ok {
		return &bedrockv1.Renewal{State: "unknown", Problem: "the store has not answered"}
	}
	return &bedrockv1.Renewal{State: m.kind, Problem: err.Error()}
}

// RenewalOf reads what became of one grant.
func RenewalOf(m *bedrockv1.Renewal) error {
	if m.GetState() == "renewed" {
		return nil
	}
	if sentinel := named(lockMeanings(), m.GetState()); sentinel != nil {
		return &known{m.GetProblem(), sentinel}
	}
	return errors.New("renewal unknown: " + m.GetProblem())
}
