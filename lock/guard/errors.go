package guard

import (
	"errors"
	"fmt"
)

// ErrStale says that somebody else has had the lock since: nothing was written, and nothing may be written with
// this token any more. The error is a [*StaleError].
var ErrStale = errors.New("stale token")

// StaleError is the refusal of a token, because the resource knows a higher one. Two have held the lock at
// once, or one did not notice that it had lost it. It matches [ErrStale].
type StaleError struct {
	// Name is the lock's.
	Name string
	// Token is what was refused.
	Token uint64
	// Newest is the highest token that the resource knew then.
	Newest uint64
}

// Error implements error.
func (e *StaleError) Error() string {
	return fmt.Sprintf("lock %q: token %d is stale: the resource knows %d", e.Name, e.Token, e.Newest)
}

// Is reports whether target is [ErrStale].
func (e *StaleError) Is(target error) bool { return target == ErrStale }

// Compare is the one rule: a ticket whose token is lower than the newest that the resource knows is refused.
func Compare(t Ticket, newest uint64) error {
	if t.Token < newest {
		return &StaleError{Name: t.Name, Token: t.Token, Newest: newest}
	}
	return nil
}
