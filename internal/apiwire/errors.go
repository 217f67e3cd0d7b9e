package apiwire

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	"github.com/bedrock-go/bedrock/input"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// known is an error whose words and meaning crossed the wire.
type known struct {
	text  string
	means error
}

func (e *known) Error() string { return e.text }

// Unwrap gives what the error means, for errors.Is and errors.As.
func (e *known) Unwrap() error { return e.means }

// meaning is how one error travels.
type meaning struct {
	kind string
	code connect.Code
	err  error
}

// lookUp finds the first meaning an error has.
func lookUp(meanings []meaning, err error) (meaning, bool) {
	for _, m := range meanings {
		if errors.Is(err, m.err) {
			return m, true
		}
	}
	return meaning{}, false
}

// named finds the meaning of a kind; nil if there is none.
func named(meanings []meaning, kind string) error {
	for _, m := range meanings {
		if m.kind == kind {
			return m.err
		}
	}
	return nil
}

// failure makes the error that crosses the wire.
func failure(code connect.Code, err error, problems ...*bedrockv1.Problem) *connect.Error {
	e := connect.NewError(code, errors.New(err.Error()))
	for _, p := range problems {
		if detail, err := connect.NewErrorDetail(p); err == nil { // a message of ours always marshals
			e.AddDetail(detail)
		}
	}
	return e
}

// Invalid writes what is wrong with a request, a problem for each mistake; nil if nothing is.
func Invalid(err error) *connect.Error {
	var problems []*bedrockv1.Problem
	for _, wrong := range input.All(err) {
		problems = append(problems, &bedrockv1.Problem{Kind: kindField, Field: wrong.Field, Reason: wrong.Problem})
	}
	if len(problems) == 0 {
		return nil
	}
	return failure(connect.CodeInvalidArgument, err, problems...)
}

// invalidOf reads what is wrong with a request.
func invalidOf(problems []*bedrockv1.Problem) error {
	var all []*input.Error
	for _, p := range problems {
		if p.GetKind() == kindField {
			all = append(all, &input.Error{Field: p.GetField(), Problem: p.GetReason()})
		}
	}
	return input.Join(all)
}

// Busy refuses a call before anything of it was done. It may be made again later.
func Busy(err error) *connect.Error {
	return failure(connect.CodeResourceExhausted, err, &bedrockv1.Problem{Kind: kindUnavailable})
}

// kindUnavailable means that nothing was done, and that asking again may help.
const kindUnavailable = "unavailable"

// contextError translates the end of a context.
func contextError(err error) *connect.Error {
	switch {
	case errors.Is(err, context.Canceled):
		return connect.NewError(connect.CodeCanceled, err)
	case errors.Is(err, context.DeadlineExceeded):
		return connect.NewError(connect.CodeDeadlineExceeded, err)
	default:
		return nil
	}
}

// problemsOf finds what a server said of an error, and its words.
func problemsOf(err error) (all []*bedrockv1.Problem, text string) {
	e, ok := errors.AsType[*connect.Error](err)
	if !ok || !connect.IsWireError(err) {
		return nil, ""
	}
	for _, detail := range e.Details() {
		if message, err := detail.Value(); err == nil {
			if p, ok := message.(*bedrockv1.Problem); ok {
				all = append(all, p)
			}
		}
	}
	return all, e.Message()
}
