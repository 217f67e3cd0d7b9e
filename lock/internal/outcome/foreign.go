package outcome

import (
	"context"
	"errors"
	"time"
)

// foreignError is the end of some context of the backend's own, or of a time-out that looks
// like one: package net says so of a connection that is not made in time. It matches all that it
// is but that, which would be taken for the end of the caller's context.
type foreignError struct{ err error }

// NotTheCallersEnd returns err, which then matches the end of a context only if that of ctx has
// come.
func NotTheCallersEnd(ctx context.Context, err error) error {
	if !IsContextError(err) || hasEnded(ctx) {
		return err
	}
	return &foreignError{err}
}

// IsContextError reports whether err is the end of some context.
func IsContextError(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// hasEnded reports whether ctx has, also when the timer that tells is late by a moment.
func hasEnded(ctx context.Context) bool {
	end, limited := ctx.Deadline()
	return ctx.Err() != nil || limited && !time.Now().Before(end)
}

// Error implements error.
func (e *foreignError) Error() string { return e.err.Error() }

// Is reports whether the error matches target, which is not the end of a context.
func (e *foreignError) Is(target error) bool {
	return !IsContextError(target) && errors.Is(e.err, target)
}

// As finds what the error is.
func (e *foreignError) As(target any) bool { return errors.As(e.err, target) }
