package http1

// UnsentError means that not a byte of a request has left.
type UnsentError struct{ Err error }

// Error implements error.
func (e *UnsentError) Error() string { return e.Err.Error() }

// Unwrap returns why.
func (e *UnsentError) Unwrap() error { return e.Err }
