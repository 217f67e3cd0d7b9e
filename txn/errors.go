package txn

import (
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn/driver"
)

var (
	// ErrNotFound means that there is no transaction with this ID.
	ErrNotFound = driver.ErrNotFound
	// ErrExists means that the ID belongs to a transaction with other content.
	ErrExists = errors.New("the ID belongs to a transaction with other content")
	// ErrDecided means that the transaction is decided, and not the way that was asked for.
	ErrDecided = errors.New("the transaction is decided")
	// ErrAction means that what was asked for does not fit the transaction's state.
	ErrAction = errors.New("not possible in this state")
	// ErrInvalid means that something asked for is not acceptable; nothing was done. The
	// error is an [*InvalidError].
	ErrInvalid = input.ErrInvalid
	// ErrUnavailable means that the coordinator or its store cannot be reached; nothing was
	// done.
	ErrUnavailable = errors.New("coordinator unavailable")
	// ErrMalformed is a participant's word that it cannot read what it is given, and will not
	// when it is asked again.
	ErrMalformed = errors.New("the call cannot be read")
	// ErrClosed means that the coordinator was stopped.
	ErrClosed = errors.New("coordinator is stopped")
)

// RolledBackError says that a transaction was rolled back, and why.
type RolledBackError struct{ ID, Reason string }

func (e *RolledBackError) Error() string {
	return fmt.Sprintf("transaction %s was rolled back: %s", e.ID, e.Reason)
}

// ParkedError says that a transaction waits for a person. Its outcome is in doubt
// until then.
type ParkedError struct{ ID, Reason string }

func (e *ParkedError) Error() string {
	return fmt.Sprintf("transaction %s is parked: %s", e.ID, e.Reason)
}

// InDoubtError says that the outcome of a transaction is not known: somebody
// abandoned it, or the wait for it ended early (Err says why). In the second case
// it goes on, and Wait may be called again.
type InDoubtError struct {
	ID  string
	Err error
}

func (e *InDoubtError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("transaction %s was abandoned; its outcome is in doubt", e.ID)
	}
	return fmt.Sprintf("transaction %s: outcome not known yet: %v", e.ID, e.Err)
}

// Unwrap gives the reason why the wait ended.
func (e *InDoubtError) Unwrap() error { return e.Err }

// InvalidError is a definition or a request that cannot be accepted. Nothing was done. It
// matches [ErrInvalid].
type InvalidError = input.Error

// Err is the error that goes with a result: nil only for Committed.
func (r Result) Err() error {
	switch {
	case r.Parked != "":
		return &ParkedError{ID: r.ID, Reason: r.Parked}
	case r.Outcome == Committed:
		return nil
	case r.Outcome == RolledBack:
		return &RolledBackError{ID: r.ID, Reason: r.Reason}
	default:
		return &InDoubtError{ID: r.ID}
	}
}

// Abort is a participant's refusal for a reason of its business: it has done
// nothing and will not. A transaction that is not decided is rolled back. A reason of nil is
// none that could be told.
func Abort(err error) error {
	if err == nil {
		err = errors.New("refused, and no reason was given")
	}
	return &abortError{err}
}

type abortError struct{ error }

func (e *abortError) Unwrap() error { return e.error }

// Aborted reports whether an error is a participant's refusal.
func Aborted(err error) bool {
	_, ok := errors.AsType[*abortError](err)
	return ok
}

// Pending is a participant's word that it is still working: ask again after d, a day
// ([MaxPending]) at most. What is less than a millisecond, as a number without its unit is,
// counts as nothing said: it is asked again after a second.
func Pending(d time.Duration) error { return &PendingError{After: d} }

// PendingError is what Pending returns.
type PendingError struct{ After time.Duration }

func (e *PendingError) Error() string { return fmt.Sprintf("still working; ask again in %v", e.After) }
