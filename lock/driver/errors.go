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
)

// HeldError is a refusal that says more. It matches [ErrHeld].
type HeldError struct {
	// Owner is the present holder's owner id, empty when unknown.
	Owner string
	// TTL is how long the holder's grant lives unless renewed; 0 when unknown.
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
