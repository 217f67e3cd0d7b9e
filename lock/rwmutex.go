package lock

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// RWMutex is a lock on a name that many may have to read, or one to write. It holds no state: two
// RWMutexes of one name exclude each other, in one process as between processes. It is of another
// kind than a [Mutex]: see [ErrKind].
//
// A writer that waits keeps readers off who come later, so that it has its turn; then those readers have
// theirs, at first those of its process, to whom it passes the lock on. So who has the lock to read must not wait
// for somebody else to read it, too. Each reader has a lease of its own in the store, whatever becomes of the
// others; those of one process share one for as long as [HandOff.Time]. All leases have a fencing token, that of a
// writer higher than those of all who had the lock before.
//
// As with a Mutex, a context that carries a lease re-enters it: one to read with RLock, and one to write with
// both Lock and RLock. Lock with a context that carries a lease to read would wait for itself, and is refused:
// that is what [RWMutex.RLockUpgradeable] and [Lease.Upgrade] are for.
//
// An RWMutex is safe for concurrent use.
type RWMutex struct{ read, write Mutex }

// RWMutexOptions configure an [RWMutex]. The zero value and nil mean the defaults. Those that [MutexOptions]
// have, too, mean the same here, for readers and writers.
type RWMutexOptions struct {
	TTL     time.Duration
	Fixed   bool
	MinHold time.Duration
	MaxHold time.Duration
	Wait    time.Duration
	Meta    map[string]string
	// ReadersFirst has a writer wait until nobody reads, however many come meanwhile, as Redisson's do. It says
	// nothing of other writers.
	ReadersFirst bool
}

// RWMutex returns the read-write lock of that name. What is wrong with the name or the options is reported by
// its methods, before any call to the backend.
func (c *Client) RWMutex(name string, opts *RWMutexOptions) *RWMutex {
	rw := &RWMutex{}
	rw.read = Mutex{client: c, want: want{name: name, mode: driver.Shared, ttl: c.opts.TTL, meta: c.meta}}
	rw.read.configure(opts.common())
	if opts != nil && opts.ReadersFirst {
		rw.read.want.role = humble
	}
	rw.write = rw.read
	rw.write.want.mode = driver.Write
	return rw
}

// common returns what the options have in common with those of a mutex.
func (o *RWMutexOptions) common() *MutexOptions {
	if o == nil {
		return nil
	}
	return &MutexOptions{TTL: o.TTL, Fixed: o.Fixed, MinHold: o.MinHold, MaxHold: o.MaxHold, Wait: o.Wait, Meta: o.Meta}
}

// Name returns the lock's name.
func (rw *RWMutex) Name() string { return rw.read.want.name }

// Check says what is wrong with the name or the options, as Lock would.
func (rw *RWMutex) Check() error {
	if rw == nil {
		return errNilLock()
	}
	return rw.write.Check()
}

// Lock waits for the lock to write, as [Mutex.Lock] does for a mutex.
func (rw *RWMutex) Lock(ctx context.Context) (*Lease, error) { return rw.write.Lock(ctx) }

// TryLock takes the lock to write if nobody has it, as [Mutex.TryLock] does.
func (rw *RWMutex) TryLock(ctx context.Context) (*Lease, error) { return rw.write.TryLock(ctx) }

// RLock waits for the lock to read, as [Mutex.Lock] does for a mutex.
func (rw *RWMutex) RLock(ctx context.Context) (*Lease, error) { return rw.read.Lock(ctx) }

// TryRLock takes the lock to read if no writer has it or waits for it, as [Mutex.TryLock] does.
func (rw *RWMutex) TryRLock(ctx context.Context) (*Lease, error) { return rw.read.TryLock(ctx) }

// RLockUpgradeable waits for the lock to read as the one who may write later: see [Lease.Upgrade]. There is
// one such reader at a time, beside any number of others.
func (rw *RWMutex) RLockUpgradeable(ctx context.Context) (*Lease, error) {
	return rw.upgradeable().Lock(ctx)
}

// TryRLockUpgradeable is RLockUpgradeable if that can be had at once, as [Mutex.TryLock].
func (rw *RWMutex) TryRLockUpgradeable(ctx context.Context) (*Lease, error) {
	return rw.upgradeable().TryLock(ctx)
}

func (rw *RWMutex) upgradeable() *Mutex {
	m := rw.read
	m.want.role |= upgradeable
	return &m
}

// Reader returns the lock to read, for [Do] and [Client.Locker].
func (rw *RWMutex) Reader() Lockable { return &rw.read }

// Writer returns the lock to write.
func (rw *RWMutex) Writer() Lockable { return &rw.write }

// Upgrade returns a lease to write beside the one to read, which must come from [RWMutex.RLockUpgradeable].
// It waits for the other readers to go, and for any other upgrade of this lease, until ctx ends, while nobody else
// can have written since this one began to read. The lease to write has a life, a MaxHold and a token of its own;
// when it is unlocked, the one to read goes on. It may be unlocked before, too.
func (l *Lease) Upgrade(ctx context.Context) (*Lease, error) {
	m, again, err := l.toWrite(ctx)
	if again != nil || err != nil {
		return again, err
	}
	writing, err := m.lockOver(ctx, ctx, l.Owner())
	return writing, l.lostIfBelow(err)
}

// TryUpgrade is Upgrade if nobody else reads, and fails with [ErrHeld] at once if somebody does.
func (l *Lease) TryUpgrade(ctx context.Context) (*Lease, error) {
	m, again, err := l.toWrite(ctx)
	if again != nil || err != nil {
		return again, err
	}
	writing, err := m.client.acquire(ctx, ctx, &m.want, l.Owner(), true)
	return writing, l.lostIfBelow(err)
}

// lostIfBelow has the lease lost if the error of a request over it says that it is not there, and says so.
func (l *Lease) lostIfBelow(err error) error {
	if !errors.Is(err, driver.ErrBelow) {
		return err
	}
	l.hold.lose(errTaken)
	return cmp.Or(l.Err(), err)
}

// toWrite returns what an upgrade asks for, or one more lease of an upgrade that ctx carries.
func (l *Lease) toWrite(ctx context.Context) (m *Mutex, again *Lease, err error) {
	w := *l.isHadFor()
	if w.mode != driver.Shared || !w.role.includes(upgradeable) {
		return nil, nil, &InvalidError{Field: "lease", Problem: "is not one of RLockUpgradeable: it cannot be upgraded"}
	}
	w.mode, w.role = driver.Write, w.role&^upgradeable
	m = l.mutexFor(w)
	if err := cmp.Or(m.checkCall(ctx), l.Err()); err != nil {
		return nil, nil, err
	}
	return m, m.reenterOver(ctx, l.root), nil
}

// reenterOver is reenter for a lock that is had over a lease.
func (m *Mutex) reenterOver(ctx context.Context, over *Lease) *Lease {
	l, _ := ctx.Value(leaseKey{}).(*Lease)
	for ; l != nil; l = l.outer() {
		if l.hold.q.client == m.client && l.hold.q.overOwner() == over.Owner() && l.hold.want.mode == m.want.mode {
			if inner := l.reenter(ctx); inner != nil {
				return inner
			}
		}
	}
	return nil
}

// Downgrade returns a lease to read in place of this one to write, which is unlocked: no other writer comes in
// between, and readers who wait may come now. On an error this lease goes on, unless that matches [ErrLost] or
// [ErrReleased]. A lease that was entered more than once is refused. What the one to write was asked the one to read is
// asked, too. If ctx is of this lease, and so ends with it, the new one's is made from what this one's was made from.
func (l *Lease) Downgrade(ctx context.Context) (*Lease, error) {
	w := *l.isHadFor()
	if w.mode != driver.Write {
		return nil, &InvalidError{Field: "lease", Problem: "is not one to write, so it cannot be downgraded"}
	}
	w.mode = driver.Shared
	m := l.mutexFor(w)
	if err := cmp.Or(m.checkCall(ctx), l.Err(), l.root.serveNobodyElse()); err != nil {
		return nil, err
	}
	reading, err := m.client.acquire(ctx, l.outlivedBy(ctx), &m.want, l.Owner(), true)
	if err != nil {
		l.hold.serveOthersAgain()
		return nil, l.lostIfBelow(err)
	}
	reading.inheritPlea(l)
	if err := l.Unlock(ctx); err != nil && !MaybeApplied(err) {
		return nil, cmp.Or(err, reading.Unlock(ctx))
	}
	return reading, nil
}

// outlivedBy returns ctx, or if that ends with this lease the context that it was taken in.
func (l *Lease) outlivedBy(ctx context.Context) context.Context {
	for in, _ := LeaseFrom(ctx); in != nil; in = in.outer() {
		if in == l {
			return l.parent
		}
	}
	return ctx
}

// mutexFor returns a lock that is wanted by who has this lease.
func (l *Lease) mutexFor(w want) *Mutex { return &Mutex{client: l.hold.q.client, want: w} }

// serveNobodyElse has the grant serve no other lease from now on, and refuses it if one relies on it already: else
// somebody could write while the one who has downgraded reads.
func (l *Lease) serveNobodyElse() error {
	l.hold.q.part.mu.Lock()
	defer l.hold.q.part.mu.Unlock()
	if l.entered > 1 {
		return &InvalidError{Field: "lease", Problem: "was entered more than once, so it cannot be downgraded"}
	}
	if l.hold.ending {
		return &InvalidError{Field: "lease", Problem: "is being downgraded already"}
	}
	l.hold.ending = true
	return nil
}

func (h *hold) serveOthersAgain() {
	h.q.part.mu.Lock()
	defer h.q.part.mu.Unlock()
	h.ending = false
}
