package lock

import (
	"cmp"
	"context"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Mutex is an exclusive lock on a name. It holds no state: two Mutexes of one
// name exclude each other, in one process as between processes. Processes take
// turns, in no order unless it is [MutexOptions.Fair]; it is re-entrant only on request: a context that carries the
// lease (see [Lease.Context]) re-enters.
//
// A Mutex is safe for concurrent use.
type Mutex struct {
	client *Client
	want   want
	wait   time.Duration
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
	// Fair gives the lock to who has waited for longest, of all processes: each Lock has a place of its own in the
	// backend's line. TryLock fails while somebody waits there. Nothing is passed on among goroutines of
	// this process meanwhile, and nothing lingers, so that it is slower; it is for where order matters. Who has died
	// is passed over within seconds. All who use a name should be fair, or none: who is
	// not may go first when the lock is free, and waits for as long as somebody stands in line.
	// A backend without such a line fails it with [ErrUnsupported].
	Fair bool
	// MinHold keeps the lock at least that long, also when it is unlocked
	// earlier: a job that ran for a moment on one host does not run again on
	// another whose clock is behind. At most [MaxTTL], and the TTL of a Fixed lease. If
	// the process dies before it unlocks, nobody is left to see to that: the lock ends
	// with its TTL, as any.
	MinHold time.Duration
	// MaxHold is how long the lock is held at most: then it is taken from its holder, whose
	// context ends, and given back, for holders that hang and never do. [EventOverdue] warns when
	// four fifths of it have passed. At least 10 ms and MinHold, at most 1000 h. Defaults to no limit.
	MaxHold time.Duration
	// Wait is the longest that Lock waits, at least 1 ms; then it fails with [ErrHeld].
	// Defaults to no limit but the context's.
	Wait time.Duration
	// Meta is stored beside the grant, in addition to the client's, and before it where
	// both say the same; "host" and "pid" are always those of the process. All of it is at
	// most [driver.MaxMeta] bytes, 4096, as JSON.
	Meta map[string]string
}

// Mutex returns the lock of that name. What is wrong with the name or the
// options is reported by Lock, before any call to the backend.
func (c *Client) Mutex(name string, opts *MutexOptions) *Mutex {
	m := &Mutex{client: c, want: want{name: name, mode: driver.Exclusive, ttl: c.opts.TTL, meta: c.meta}}
	m.configure(opts)
	return m
}

// configure sets the options of a lock whose kind is known, and finds what is wrong with it.
func (m *Mutex) configure(opts *MutexOptions) {
	c := m.client
	if opts == nil && m.want.mode == driver.Exclusive {
		m.err = driver.CheckName(m.want.name) // the rest was checked when the client was made
		return
	}
	if opts != nil {
		m.wait, m.want.fixed, m.want.minHold = opts.Wait, opts.Fixed, opts.MinHold
		m.want.fair = opts.Fair
		m.want.ttl = cmp.Or(opts.TTL, c.opts.TTL)
		m.want.setMaxHold(opts.MaxHold)
		if opts.MaxHold > 0 {
			m.want.ttl = min(m.want.ttl, lastingTo(opts.MaxHold))
		}
		if len(opts.Meta) > 0 {
			m.want.meta = c.encodeMeta(opts.Meta)
		}
		m.err = cmp.Or(m.want.checkMaxHold(opts.MaxHold), checkMeta(opts.Meta))
	}
	m.err = cmp.Or(m.err, m.validate())
}

func (m *Mutex) validate() error {
	return cmp.Or(checkTime("wait", m.wait), m.want.check(m.client.id))
}

// Name returns the lock's name.
func (m *Mutex) Name() string { return m.want.name }

// Client returns the client that the lock is of.
func (m *Mutex) Client() *Client { return m.client }

// Check says what is wrong with the name or the options, as Lock would.
func (m *Mutex) Check() error {
	if m == nil {
		return errNilLock()
	}
	return m.err
}

func errNilLock() error { return &InvalidError{Field: "lock", Problem: "is nil"} }

// Lock waits for the lock until it has it, ctx ends, or [MutexOptions.Wait] has
// passed. A deadline of ctx is not only the wait's: it ends [Lease.Context], too, though
// not the lock. To bound the wait alone, use MutexOptions.Wait. A context that carries
// a lease of this lock re-enters it: the options of the first Lock go on to apply, and the
// lock is released when every lease taken has been unlocked.
//
// Whoever waits for longer than a second with a context that carries leases of other locks says so beside them, where
// the backend can store that: see [Holder.Waits]. If all who hold those locks wait for each other, in any process, one
// of them fails within a few seconds with [ErrDeadlock], which tells of the circle; the others go on.
//
// The error matches ctx's when ctx ended the wait, and the backend's if that failed
// last, and says who held the lock if somebody did; [ErrHeld] when Wait ended it, unless
// the backend failed last; [ErrClosed], [ErrInvalid], or is the backend's, also when that
// has not answered for as long as [Options.Patience]: then it matches
// [driver.ErrUnavailable]. Whatever it is, the lock is not left behind: a grant that
// arrives too late is given back in the background.
func (m *Mutex) Lock(ctx context.Context) (*Lease, error) {
	if err := m.checkCall(ctx); err != nil {
		return nil, err
	}
	if inner, err := m.reenter(ctx); inner != nil || err != nil {
		return inner, err
	}
	switch {
	case m.wait != 0:
		return m.lockWithin(ctx, m.wait)
	case ctx.Value(leaseKey{}) != nil:
		return m.lockSearching(ctx, ctx, "")
	}
	return m.client.acquire(ctx, ctx, &m.want, "", false) // with one function less on the stack: see there
}

// lockWithin waits for the lock, no longer than that.
func (m *Mutex) lockWithin(ctx context.Context, wait time.Duration) (*Lease, error) {
	limited, cancel := context.WithTimeoutCause(ctx, wait, errWaited)
	defer cancel()
	return m.lockOver(ctx, limited, "")
}

// lockOver waits for the lock until limited ends. A grant of this process's over which it is had is in nobody's way.
func (m *Mutex) lockOver(ctx, limited context.Context, over string) (*Lease, error) {
	if ctx.Value(leaseKey{}) != nil {
		return m.lockSearching(ctx, limited, over)
	}
	return m.client.acquire(limited, ctx, &m.want, over, false)
}

// TryLock takes the lock if it is free, and fails with [ErrHeld] at once if it
// is not, or if another goroutine of this process is before it. It asks the
// backend once, and waits for the answer for half of [Options.Patience], 5 s at most. Its
// errors are those of Lock.
func (m *Mutex) TryLock(ctx context.Context) (*Lease, error) {
	if err := m.checkCall(ctx); err != nil {
		return nil, err
	}
	if inner, err := m.reenter(ctx); inner != nil || err != nil {
		return inner, err
	}
	return m.client.acquire(ctx, ctx, &m.want, "", true)
}

// checkCall reports what is wrong before anything happens.
func (m *Mutex) checkCall(ctx context.Context) error {
	if ctx == nil {
		return errNilContext()
	}
	if m.err != nil {
		return m.err
	}
	if ctx.Err() != nil {
		return waitError(ctx, m.want.name, 0)
	}
	return nil
}

func errNilContext() error { return &InvalidError{Field: "ctx", Problem: "is nil"} }
