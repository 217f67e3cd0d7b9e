package lock

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/outcome"
)

// The errors to compare with, by errors.Is.
var (
	// ErrHeld says that somebody else has the lock. The error is a [*HeldError].
	ErrHeld = driver.ErrHeld
	// ErrLost says that the lock was ours and is not any more: stop the work.
	ErrLost = errors.New("lost")
	// ErrReleased says that the lease was unlocked already.
	ErrReleased = errors.New("already released")
	// ErrClosed says that the client was stopped, see [Client.Stop].
	ErrClosed = errors.New("client is stopped")
	// ErrUnsupported says that the backend lacks a capability.
	ErrUnsupported = driver.ErrUnsupported
	// ErrKind says that the name is that of a lock of another kind, such as a semaphore, or was
	// that a moment ago. The error is a [*driver.KindError].
	ErrKind = driver.ErrKind
	// ErrInvalid says that an argument is not acceptable; nothing happened.
	// The error is an [*InvalidError].
	ErrInvalid = input.ErrInvalid
)

// HeldError says who has the lock. It matches [ErrHeld].
type HeldError struct {
	// Name is the lock's name.
	Name string
	// Owner is the holder's owner id as the backend has it, empty when it does not tell. The
	// error's text quotes what should not be printed.
	Owner string
	// Until is when the holder's lease ends unless it is renewed; zero when
	// the backend does not tell.
	Until time.Time
	// Waits says that Owner does not have the lock but waits for it, and goes first: a writer, before readers who
	// come later, or who is before others in the line of a fair lock. Until is when they need not wait for it any more.
	Waits bool
	// Place is where the one who asked stands in the line of a fair lock, 1 if it is next; 0 if there is none.
	Place int
}

// Error implements error.
func (e *HeldError) Error() string {
	text := fmt.Sprintf("lock %q: %v", e.Name, &driver.HeldError{Owner: e.Owner, Waits: e.Waits})
	if !e.Until.IsZero() {
		text += " until " + e.Until.Format(time.RFC3339)
	}
	if e.Place > 0 {
		text += ", place " + strconv.Itoa(e.Place) + " in line"
	}
	return text
}

// Is reports whether target is [ErrHeld].
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// InvalidError names an argument that is not acceptable. It matches [ErrInvalid].
type InvalidError = input.Error

// MaybeApplied reports whether the operation that failed with err may have
// taken effect all the same, or may still do so. What another operation was told, which may be the
// cause of the context's end, says nothing of this one.
func MaybeApplied(err error) bool { return outcome.MaybeApplied(err) }

// opError wraps what a backend said of an operation on a lock.
func opError(op, name string, err error) error {
	return fmt.Errorf("lock %q: %s: %w", name, op, err)
}

// waitError reports a wait that the caller's context ended.
func waitError(ctx context.Context, name string, waited time.Duration) error {
	return opError("waited "+waited.Round(time.Microsecond).String(), name, outcome.ContextError(ctx))
}
