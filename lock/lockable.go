package lock

import (
	"context"
	"errors"
)

// Lockable is whatever can be locked: a [Mutex], a side of an [RWMutex], a [Semaphore], or what is made
// of several. [Do] and
// [Client.Locker] take any. Its methods keep the promises of those of Mutex: a lease's
// context is made from the one given to Lock, whose end ends the wait, and the error tells
// its cause.
type Lockable interface {
	// Name returns the lock's name.
	Name() string
	// Lock waits for the lock.
	Lock(ctx context.Context) (*Lease, error)
	// TryLock takes the lock if it is free, and fails with [ErrHeld] at once if not.
	TryLock(ctx context.Context) (*Lease, error)
}

var _ Lockable = (*Mutex)(nil)

// nameable is a lock of this package, which can take its name from elsewhere.
type nameable interface{ withName(name string) Lockable }

// withName returns a copy of another name.
func (m *Mutex) withName(name string) Lockable {
	named := *m
	named.want.name = name
	if wrong, ok := errors.AsType[*InvalidError](m.err); !ok || wrong.Field == "name" {
		named.err = named.validate()
	}
	return &named
}
