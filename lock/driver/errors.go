package driver

import (
	"errors"
	"time"
)

// The classes of errors a backend returns; see the package comment.
var (
	// ErrHeld says that somebody else has the lock.
	ErrHeld = errors.New("held")
	// ErrLost says that the store does not have the grant (any more).
	ErrLost = errors.New("not held by this owner")
	// ErrRefused says that nothing happened and asking again will not help.
	ErrRefused = errors.New("refused")
	// ErrUnavailable says that nothing happened and asking again may help.
	ErrUnavailable = errors.New("unavailable")
	// ErrUnsupported says that the backend lacks a capability. It is always a
	// refusal too.
	ErrUnsupported = errors.New("unsupported")
	// ErrSpent stands beside the class of an error of Acquire. It says that a release
	// of the request's owner may have been sent, by the backend itself or by somebody
	// on the way: nobody may ask under this owner again.
	ErrSpent = errors.New("a release of this owner may be on its way")
)

// UnderwayError is the error of a call that its caller has left behind, and that
// goes on in this process. Its outcome is unknown, whatever Err is.
type UnderwayError struct {
	// Err is why the caller has left: its context's error, most often.
	Err error
	// Ended is closed when nothing of the call is under way in this process any more.
	// That must not take for ever, so a call needs a time limit of its own.
	Ended <-chan struct{}
}

// Error implements error.
func (e *UnderwayError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *UnderwayError) Unwrap() error { return e.Err }

// HeldError is a refusal that says more. It matches [ErrHeld].
type HeldError struct {
	// Owner is the present holder's owner id, or its [PublicOwner]; empty when unknown.
	Owner string
	// TTL is how long the holder's grant lives unless renewed; 0 when unknown. It is
	// never 0 for a grant in its last moment: nobody tells of one that runs out.
	TTL time.Duration
}

// Error implements error.
func (e *HeldError) Error() string {
	if e.Owner == "" {
		return "held"
	}
	return "held by " + e.Owner
}

// Is reports whether target is [ErrHeld].
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// Spent returns err, which then matches [ErrSpent] besides all that it matches
// already.
func Spent(err error) error { return &spentError{err} }

type spentError struct{ err error }

func (e *spentError) Error() string        { return e.err.Error() }
func (e *spentError) Unwrap() error        { return e.err }
func (e *spentError) Is(target error) bool { return target == ErrSpent }
