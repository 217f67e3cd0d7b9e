package multi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock"
)

// MaxLocks is how many locks can be taken together.
const MaxLocks = 1000

// Options configure a [Multi]. The zero value and nil mean the defaults.
type Options struct {
	// Wait is the longest that Lock waits for all of them, at least 1 ms; then it fails with [lock.ErrHeld]. Defaults
	// to no limit but the context's, and those of the locks.
	Wait time.Duration
}

// Multi is several locks that are had together. It holds no state, and is safe for concurrent use.
type Multi struct {
	locks []lock.Lockable // in the order of their names
	wait  time.Duration
	err   error // why it cannot be used
}

// New returns several locks as one. Their names are different, also where they are of different backends. What is wrong
// is reported by the methods, before any call to a backend.
func New(locks []lock.Lockable, opts *Options) *Multi {
	m := &Multi{locks: slices.Clone(locks)}
	if opts != nil {
		m.wait = opts.Wait
	}
	if m.err = m.check(); m.err == nil {
		slices.SortFunc(m.locks, func(a, b lock.Lockable) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return m
}

func (m *Multi) check() error {
	if n := len(m.locks); n < 1 || n > MaxLocks {
		return input.Errorf("locks", "are %d, allowed are 1 to %d", n, MaxLocks)
	}
	if m.wait != 0 && m.wait < time.Millisecond {
		return input.Errorf("wait", "is %s, allowed are %s and longer", m.wait, time.Millisecond)
	}
	seen := make(map[string]bool, len(m.locks))
	for i, l := range m.locks {
		if l == nil {
			return input.Errorf("locks", "has nil at index %d", i)
		}
		if c, ok := l.(interface{ Check() error }); ok {
			if err := c.Check(); err != nil {
				return fmt.Errorf("locks[%d]: %w", i, err)
			}
		}
		if seen[l.Name()] {
			return input.Errorf("locks", "has the name %q twice", l.Name())
		}
		seen[l.Name()] = true
	}
	return nil
}

// Names returns the names of the locks, in the order in which they are taken.
func (m *Multi) Names() []string {
	names := make([]string, 0, len(m.locks))
	for _, l := range m.locks {
		if l != nil {
			names = append(names, l.Name())
		}
	}
	return names
}

// Lock waits until it has all of the locks, ctx ends, or [Options.Wait] has passed. Its errors are those of
// [lock.Mutex.Lock] for the lock that could not be had, [lock.ErrDeadlock] among them; nothing is left behind. When one
// of them is lost while it waits for others, that ends it with [lock.ErrLost].
func (m *Multi) Lock(ctx context.Context) (*Lease, error) {
	return m.takeWith(ctx, func(t *taking) error { return t.lockAll() })
}

// TryLock takes the locks if all of them are free, and fails with [lock.ErrHeld] at once if one is not.
func (m *Multi) TryLock(ctx context.Context) (*Lease, error) {
	return m.takeWith(ctx, func(t *taking) error { return t.tryAll() })
}

func (m *Multi) takeWith(ctx context.Context, take func(*taking) error) (*Lease, error) {
	if ctx == nil {
		return nil, &lock.InvalidError{Field: "ctx", Problem: "is nil"}
	}
	if m.err != nil {
		return nil, m.err
	}
	limited, cancel := context.WithCancelCause(ctx)
	t := &taking{locks: m.locks, lease: &Lease{ctx: limited, end: cancel}}
	done := false
	defer func() {
		if !done { // also when a backend panics, which its caller may survive
			_ = t.lease.Unlock(ctx) // what is not certain goes on in the background
		}
	}()
	inTime := func() bool { return true }
	if m.wait > 0 {
		inTime = time.AfterFunc(m.wait, func() { cancel(errWaited) }).Stop
	}
	err := take(t)
	if err != nil && errors.Is(err, lock.ErrHeld) {
		return nil, err
	}
	switch waited := !inTime(); {
	case waited && (err == nil || ctx.Err() == nil && errors.Is(err, context.Canceled)):
		return nil, &waitedError{held: t.whoHas(err), why: err}
	case err != nil:
		return nil, err
	}
	done = true
	return t.lease, nil
}

// Do runs fn while it holds all of the locks. The context given to fn is the lease's. The error joins fn's with what
// Unlock reports.
func Do(ctx context.Context, m *Multi, fn func(ctx context.Context, l *Lease) error) (err error) {
	switch {
	case m == nil:
		return &lock.InvalidError{Field: "multi", Problem: "is nil"}
	case fn == nil:
		return &lock.InvalidError{Field: "function", Problem: "is nil"}
	}
	lease, err := m.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lease.Unlock(ctx)) }()
	return fn(lease.Context(), lease)
}
