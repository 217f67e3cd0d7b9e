package apiwire

import (
	"errors"
	"fmt"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

const (
	kindHeld      = "held"
	kindOtherKind = "other_kind"
	kindBelowZero = "below_zero"
)

// ErrApart says that a store cannot grant locks of these names in one step, though it may those of others. It matches
// [driver.ErrUnsupported].
var ErrApart = fmt.Errorf("the store cannot grant locks of these names in one step%.0w", driver.ErrUnsupported)

// noAnswer is all that a client learns of a store that does not say what is left behind.
const noAnswer = "the store has not answered"

// lockMeanings lists the sentinels of package lock/driver. Some are refusals as well, or unavailable,
// so they come before that.
func lockMeanings() []meaning {
	return []meaning{
		{kindHeld, connect.CodeAlreadyExists, driver.ErrHeld},
		{"lost", connect.CodeAborted, driver.ErrLost},
		{"apart", connect.CodeUnimplemented, ErrApart},
		{"unsupported", connect.CodeUnimplemented, driver.ErrUnsupported},
		{"below", connect.CodeFailedPrecondition, driver.ErrBelow},
		{"refused", connect.CodeFailedPrecondition, driver.ErrRefused},
		{"young", connect.CodeUnavailable, driver.ErrYoung},
		{kindUnavailable, connect.CodeUnavailable, driver.ErrUnavailable},
	}
}

// LockError writes an error of a lock backend; nil if nothing is known of it.
func LockError(err error) *connect.Error {
	if isUnderway(err) {
		return contextError(err)
	}
	if e := Invalid(err); e != nil {
		return e
	}
	if e, ok := errors.AsType[*driver.HeldError](err); ok {
		return held(e)
	}
	if e, ok := errors.AsType[*driver.KindError](err); ok {
		return failure(connect.CodeFailedPrecondition, err, &bedrockv1.Problem{
			Kind: kindOtherKind, Found: e.Found.String(), Wanted: e.Wanted.String(),
		})
	}
	if e, ok := errors.AsType[*driver.CountError](err); ok {
		return failure(connect.CodeFailedPrecondition, err, &bedrockv1.Problem{
			Kind: kindBelowZero, Left: count(e.Left), By: count(e.By),
		})
	}
	if m, ok := lookUp(lockMeanings(), err); ok {
		return failure(m.code, err, &bedrockv1.Problem{Kind: m.kind})
	}
	return contextError(err)
}

// LockDoubt writes an error that leaves open whether the call has taken effect.
func LockDoubt() *connect.Error {
	return failure(connect.CodeUnknown, errors.New(noAnswer+": the call may have taken effect"),
		&bedrockv1.Problem{Kind: kindInDoubt})
}

// LockUnanswered writes that a call which changes nothing has not been answered.
func LockUnanswered() *connect.Error {
	return failure(connect.CodeUnavailable, errors.New(noAnswer),
		&bedrockv1.Problem{Kind: kindUnavailable})
}

// isUnderway reports whether a call goes on. Its outcome is not known, whatever its error says.
func isUnderway(err error) bool {
	_, underway := errors.AsType[*driver.UnderwayError](err)
	return underway
}

// held writes a refusal. It does not tell the owner, who is known by the key to the lock, nor that the turn of who
// stands in line is told on a way which only who asks the store itself has.
func held(e *driver.HeldError) *connect.Error {
	told := &driver.HeldError{Owner: driver.PublicOwner(e.Owner), TTL: e.TTL, Waits: e.Waits}
	m := &bedrockv1.Problem{
		Kind: kindHeld, Name: e.Name, Owner: told.Owner, Waits: e.Waits, Again: duration(e.Again),
		Place: count(e.Place), Token: e.Token, Claim: duration(e.Claim), Rising: e.Rising,
	}
	if e.TTL != driver.UnknownTTL {
		m.Ttl = durationpb.New(e.TTL)
	}
	if e.Name != "" {
		return failure(connect.CodeAlreadyExists, fmt.Errorf("%q: %w", e.Name, told), m)
	}
	return failure(connect.CodeAlreadyExists, told, m)
}

// heldOf reads a refusal.
func heldOf(m *bedrockv1.Problem) *driver.HeldError {
	e := &driver.HeldError{
		Name: m.GetName(), Owner: m.GetOwner(), TTL: driver.UnknownTTL, Waits: m.GetWaits(),
		Again: m.GetAgain().AsDuration(), Place: int(m.GetPlace()), Token: m.GetToken(),
		Claim: m.GetClaim().AsDuration(), Rising: m.GetRising(),
	}
	if m.GetTtl() != nil {
		e.TTL = m.GetTtl().AsDuration()
	}
	return e
}

// LockErrorOf reads the error of a call. Answered says that the server itself
// answered.
func LockErrorOf(err error) (answered bool, meant error) {
	all, text := problemsOf(err)
	if len(all) == 0 {
		return false, err
	}
	p := all[0]
	switch p.GetKind() {
	case "":
		return false, err
	case kindHeld:
		return true, heldOf(p)
	case kindOtherKind:
		return true, &driver.KindError{Found: driver.ParseKind(p.GetFound()), Wanted: driver.ParseKind(p.GetWanted())}
	case kindBelowZero:
		return true, &driver.CountError{Left: int(p.GetLeft()), By: int(p.GetBy())}
	case kindField:
		return true, driver.Refused(invalidOf(all))
	case kindInDoubt:
		return true, errors.New(noAnswer) // who asked says that it may have taken effect
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
	if !ok || isUnderway(err) {
		return &bedrockv1.Renewal{State: "unknown", Problem: noAnswer}
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
