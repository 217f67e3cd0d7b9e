package lock

import (
	"context"
	"fmt"
	"maps"
	"time"
)

// Mutex is an exclusive lock on a name. It holds no state: two Mutexes of one
// name exclude each other, in one process as between processes. Processes take
// turns, in no order; it is re-entrant only on request: a context that carries the
// lease (see [Lease.Context]) re-enters.
//
// A Mutex is safe for concurrent use.
type Mutex struct {
	client *Client
	name   string
	opts   MutexOptions
	meta   string
	err    error // why the mutex cannot be used
}

// MutexOptions configure a [Mutex]. The zero value and nil mean the defaults.
type MutexOptions struct {
	// TTL is how long the lease lives without renewal. Defaults to the
	// client's.
	TTL time.Duration
	// Fixed says that the lease is never renewed: it ends after TTL, whatever
	// the holder does.
	Fixed bool
	// MinHold keeps the lock at least that long, also when it is unlocked
	// earlier: a job that ran for a moment on one host does not run again on
	// another whose clock is behind. At most [MaxTTL]. If the process dies before it
	// unlocks, nobody is left to see to that: the lock ends with its TTL, as any.
	MinHold time.Duration
	// Wait is the longest that Lock waits; then it fails with [ErrHeld].
	// Defaults to no limit but the context's.
	Wait time.Duration
	// Meta is stored beside the grant, in addition to the client's.
	Meta map[string]string
}

// Mutex returns the lock of that name. What is wrong with the name or the
// options is reported by Lock, before any call to the backend.
func (c *Client) Mutex(name string, opts *MutexOptions) *Mutex {
	m := &Mutex{client: c, name: name, meta: c.meta}
	if opts != nil {
		m.opts = *opts
	}
	m.opts.TTL = orDefault(m.opts.TTL, c.opts.TTL)
	m.err = m.validate()
	if len(m.opts.Meta) > 0 {
		m.meta = c.encodeMeta(m.opts.Meta)
	}
	return m
}

func (c *Client) encodeMeta(extra map[string]string) string {
	meta := processMeta(c.opts.Meta)
	maps.Copy(meta, extra)
	return encodeMeta(meta)
}

func (m *Mutex) validate() error {
	if err := checkName(m.name); err != nil {
		return err
	}
	if err := checkTTL(m.opts.TTL); err != nil {
		return err
	}
	if m.opts.Wait < 0 {
		return &InvalidError{"Wait", fmt.Sprintf("is %s, it cannot be negative", m.opts.Wait)}
	}
	if m.opts.MinHold < 0 || m.opts.MinHold > MaxTTL {
		return &InvalidError{"MinHold", fmt.Sprintf("is %s, allowed are 0 to %s", m.opts.MinHold, MaxTTL)}
	}
	return nil
}

// Name returns the lock's name.
func (m *Mutex) Name() string { return m.name }

// Lock waits for the lock until it has it, ctx ends, or [MutexOptions.Wait] has
// passed. A deadline of ctx is not only the wait's: it ends [Lease.Context], too, though
// not the lock. To bound the wait alone, use MutexOptions.Wait. A context that carries
// a lease of this lock re-enters it: the lock is released when every lease taken has
// been unlocked.
//
// The error matches ctx's when ctx ended the wait, and the backend's if that failed
// last, and says who held the lock if somebody did; [ErrHeld] when Wait ended it, unless
// the backend failed last; [ErrClosed], [ErrInvalid], or is the backend's. Whatever
// it is, the lock is not left behind: a grant that arrives too late is given back in
// the background.
func (m *Mutex) Lock(ctx context.Context) (*Lease, error) {
	if err := m.ready(ctx); err != nil {
		return nil, err
	}
	if inner := m.reenter(ctx); inner != nil {
		return inner, nil
	}
	if m.opts.Wait == 0 {
		return m.client.acquire(ctx, ctx, m, false)
	}
	limited, cancel := context.WithTimeoutCause(ctx, m.opts.Wait, errWaited)
	defer cancel()
	return m.client.acquire(limited, ctx, m, false)
}

// TryLock takes the lock if it is free, and fails with [ErrHeld] at once if it
// is not, or if another goroutine of this process is before it. It asks the
// backend once and does not wait for one that does not answer.
func (m *Mutex) TryLock(ctx context.Context) (*Lease, error) {
	if err := m.ready(ctx); err != nil {
		return nil, err
	}
	if inner := m.reenter(ctx); inner != nil {
		return inner, nil
	}
	return m.client.acquire(ctx, ctx, m, true)
}

// ready reports what is wrong before anything happens.
func (m *Mutex) ready(ctx context.Context) error {
	if ctx == nil {
		return errNilContext()
	}
	if m.err != nil {
		return m.err
	}
	if ctx.Err() != nil {
		return waitError(ctx, m.name, 0)
	}
	return nil
}

func errNilContext() error { return &InvalidError{"ctx", "is nil"} }
