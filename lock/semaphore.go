package lock

import (
	"context"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// Semaphore is a number of permits on a name, for so many to do something at the same time. Every permit is
// had by a lease, renewed like that of a [Mutex], so the permits of a holder that dies come back by themselves.
// It holds no state: two Semaphores of one name share their permits, in one process as between processes. It is of
// another kind than a Mutex: see [ErrKind].
//
// How many permits there are is said by whoever asks, and goes for that request: to change the limit, ask
// with another one. With a lower limit nothing is taken away, but nobody gets a permit with it until enough are
// back. One who waits with more permits to go is not overtaken in its own process, but by TryLock; it may be by
// others. Tokens tell holders apart, but not who came first. A store may have a limit to how many are had at once: on
// Redis 4096.
//
// A context that carries a lease of it does not re-enter: each Lock takes permits of its own.
//
// A Semaphore is safe for concurrent use.
type Semaphore struct{ one Mutex }

// SemaphoreOptions configure a [Semaphore]: they are those of a mutex.
type SemaphoreOptions MutexOptions

// MaxPermits is the most that a semaphore can have.
const MaxPermits = driver.MaxPermits

// Semaphore returns the semaphore of that name with so many permits, 1 to [MaxPermits]. What is wrong with the
// arguments is reported by its methods, before any call to the backend.
func (c *Client) Semaphore(name string, limit int, opts *SemaphoreOptions) *Semaphore {
	s := &Semaphore{one: Mutex{client: c, want: want{
		name: name, mode: driver.Permit, permits: 1, limit: int32(min(max(limit, 0), MaxPermits+1)),
		ttl: c.opts.TTL, meta: c.meta,
	}}}
	s.one.configure((*MutexOptions)(opts))
	if limit < 1 || limit > MaxPermits {
		s.one.err = input.Errorf("limit", "is %d, allowed are 1 to %d", limit, MaxPermits)
	}
	return s
}

// Name returns the semaphore's name.
func (s *Semaphore) Name() string { return s.one.want.name }

// Limit returns how many permits there are.
func (s *Semaphore) Limit() int { return int(s.one.want.limit) }

// Check says what is wrong with the name, the limit or the options, as Lock would.
func (s *Semaphore) Check() error {
	if s == nil {
		return errNilLock()
	}
	return s.one.Check()
}

// Lock waits for a permit, as [Mutex.Lock] does for a lock.
func (s *Semaphore) Lock(ctx context.Context) (*Lease, error) { return s.one.Lock(ctx) }

// TryLock takes a permit if there is one, as [Mutex.TryLock] does.
func (s *Semaphore) TryLock(ctx context.Context) (*Lease, error) { return s.one.TryLock(ctx) }

// LockN waits for n permits, which are had and given back together.
func (s *Semaphore) LockN(ctx context.Context, n int) (*Lease, error) { return s.permits(n).Lock(ctx) }

// TryLockN takes n permits if there are so many.
func (s *Semaphore) TryLockN(ctx context.Context, n int) (*Lease, error) {
	return s.permits(n).TryLock(ctx)
}

// Permits returns n permits of the semaphore as a lock, for [Do] and [Client.Locker].
func (s *Semaphore) Permits(n int) Lockable { return s.permits(n) }

// permits returns n permits as a lock.
func (s *Semaphore) permits(n int) *Mutex {
	if n == 1 {
		return &s.one
	}
	m := s.one
	m.want.permits = int32(min(max(n, 0), MaxPermits))
	if m.err == nil && (n < 1 || n > int(m.want.limit)) {
		m.err = input.Errorf("permits", "are %d, allowed are 1 to %d", n, m.want.limit)
	}
	return &m
}

var _ Lockable = (*Semaphore)(nil)
