package driver

import (
	"fmt"
	"strconv"
)

// Kind is what a lock is. A name has one kind at a time.
type Kind uint8

// The kinds, each with modes of its own.
const (
	Mutex     Kind = iota // mode Exclusive
	ReadWrite             // modes Shared and Write
	Semaphore             // mode Permit
	Latch                 // not a lock, and without a mode: see [Latches]
)

// String returns what people call the kind.
func (k Kind) String() string {
	if k > Latch {
		return "kind " + strconv.Itoa(int(k))
	}
	return [...]string{"mutex", "read-write lock", "semaphore", "latch"}[k]
}

// ParseKind reads what [Kind.String] returns; whatever else is a Mutex.
func ParseKind(text string) Kind {
	for k := range Latch + 1 {
		if k.String() == text {
			return k
		}
	}
	return Mutex
}

// Mode returns a mode that locks of the kind have.
func (k Kind) Mode() Mode { return [...]Mode{Exclusive, Shared, Permit}[min(k, Semaphore)] }

// ErrKind says that a name is that of a lock of another kind. Asking again does not help: it
// matches [ErrRefused], too. The error is a [*KindError].
var ErrKind = fmt.Errorf("another kind of lock%.0w", ErrRefused)

// KindError is the refusal of a name whose lock is of another kind. It matches [ErrKind].
type KindError struct{ Found, Wanted Kind }

// Error implements error.
func (e *KindError) Error() string { return fmt.Sprintf("it is a %s, not a %s", e.Found, e.Wanted) }

// Is reports whether target is [ErrKind] or [ErrRefused].
func (e *KindError) Is(target error) bool { return target == ErrKind || target == ErrRefused }
