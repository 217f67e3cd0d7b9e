// Package outcome has what an error of a lock says besides its words: whether the operation may have taken effect
// all the same, and whether it is the end of its caller's context. The words are put into one line.
package outcome

import (
	"context"
	"errors"
	"fmt"
)

// MaybeApplied reports whether the operation that failed with err may have taken effect all the same.
func MaybeApplied(err error) bool {
	var unknown *UnknownError
	return errors.As(err, &unknown)
}

// Unknown returns err, as that of an operation whose outcome is not known.
func Unknown(err error) error { return &UnknownError{err} }

// UnknownError marks an operation whose outcome is not known.
type UnknownError struct{ err error }

// Error implements error.
func (e *UnknownError) Error() string { return e.err.Error() + " (it may have taken effect)" }

// Unwrap returns what is marked.
func (e *UnknownError) Unwrap() error { return e.err }

// ToldError is what the backend has said before a wait came to its end. It is in the text of that end's error, which
// does not match it: it is not what has failed.
type ToldError struct{ Reason error }

// Error implements error.
func (e *ToldError) Error() string { return e.Reason.Error() }

// ContextError returns the error of a context that has ended, together with its cause.
func ContextError(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if MaybeApplied(cause) {
		cause = &anothersError{cause}
	}
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// OfAnother returns err, as what another operation was told: it leaves no doubt about this one, and is not the end of
// its context.
func OfAnother(err error) error { return &foreignError{&anothersError{err}} }

// anothersError is what another operation was told. It matches all that that is, but leaves no doubt.
type anothersError struct{ err error }

// Error implements error.
func (e *anothersError) Error() string { return e.err.Error() }

// Is reports whether the error matches target.
func (e *anothersError) Is(target error) bool { return errors.Is(e.err, target) }

// As finds what the error is, but for its doubt.
func (e *anothersError) As(target any) bool {
	_, doubt := target.(**UnknownError)
	return !doubt && errors.As(e.err, target)
}
