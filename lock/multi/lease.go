package multi

import (
	"context"
	"errors"
	"sync"

	"github.com/bedrock-go/bedrock/lock"
)

// Lease is all of the locks, in one hand. It is safe for concurrent use.
type Lease struct {
	leases []*lock.Lease
	ctx    context.Context //nolint:containedctx // that of the last one, which descends from those of all others
	end    context.CancelCauseFunc
}

// Context returns a child of the context given to Lock. It ends as soon as any of the locks is lost, with cause
// [lock.ErrLost], and with [lock.ErrReleased] at Unlock. Given to a Lock of one of the names, it re-enters that.
func (l *Lease) Context() context.Context { return l.ctx }

// Leases returns the leases of the locks, in the order of their names but where some were had in one step. Each has a
// token of its own.
func (l *Lease) Leases() []*lock.Lease { return append([]*lock.Lease(nil), l.leases...) }

// Of returns the lease of a lock; nil if there is none of that name.
func (l *Lease) Of(name string) *lock.Lease {
	for _, lease := range l.leases {
		if lease.Name() == name {
			return lease
		}
	}
	return nil
}

// Err returns nil while all of the locks are held, and otherwise why the first one is not.
func (l *Lease) Err() error {
	for _, lease := range l.leases {
		if err := lease.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Unlock gives all of the locks back, whatever becomes of any of them, and says of each what [lock.Lease.Unlock] does.
func (l *Lease) Unlock(ctx context.Context) error {
	if ctx == nil {
		return &lock.InvalidError{Field: "ctx", Problem: "is nil"}
	}
	errs := make([]error, len(l.leases))
	var all sync.WaitGroup
	for i, lease := range l.leases {
		all.Go(func() { errs[i] = lease.Unlock(ctx) })
	}
	all.Wait()
	l.end(lock.ErrReleased)
	return errors.Join(errs...)
}
