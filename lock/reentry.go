package lock

import (
	"context"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// leaseKey finds the innermost lease in a context.
type leaseKey struct{}

// leaseContext is a context that carries a lease.
type leaseContext struct {
	context.Context //nolint:containedctx // it is a context
	lease           *Lease
}

// Value implements [context.Context].
func (c leaseContext) Value(key any) any {
	if key == (leaseKey{}) {
		return c.lease
	}
	return c.Context.Value(key)
}

// LeaseFrom returns the innermost lease that a context carries, which is one that was made from [Lease.Context].
// The lease may be over.
func LeaseFrom(ctx context.Context) (*Lease, bool) {
	l, ok := ctx.Value(leaseKey{}).(*Lease)
	return l, ok
}

// ExclusiveFrom is LeaseFrom, but passes over leases to read and permits: it returns the innermost lease whose token is
// higher than those of all who had the lock before.
func ExclusiveFrom(ctx context.Context) (*Lease, bool) {
	l, ok := LeaseFrom(ctx)
	for ok && l.isHadFor().hasCompany() {
		l = l.outer()
		ok = l != nil
	}
	return l, ok
}

// reenter returns one more lease of this lock if ctx carries one that goes on, and
// else none. A lease that is over excludes nobody: a context may outlive it, as one
// made by [context.WithoutCancel] does, and then stands in the queue like any other.
//
// Who has the lock to read would wait for itself if it asked to write: that is refused.
func (m *Mutex) reenter(ctx context.Context) (inner *Lease, err error) {
	l, _ := LeaseFrom(ctx)
	if m.want.mode == driver.Permit {
		l = nil // each has permits of its own
	}
	for ; l != nil && inner == nil; l = l.outer() {
		switch {
		case !l.isOf(m):
		case l.isHadFor().covers(&m.want):
			inner = l.reenter(ctx)
		case l.Err() == nil:
			return nil, l.wouldWaitForItself(&m.want)
		}
	}
	return inner, nil
}

// isOf reports whether the lease is one of that lock, of whatever mode.
func (l *Lease) isOf(m *Mutex) bool {
	return l.hold.q.client == m.client && l.hold.grant.Name == m.want.name &&
		l.hold.want.mode.Kind() == m.want.mode.Kind()
}

// isHadFor returns what this lease is: by a grant to write somebody may read.
func (l *Lease) isHadFor() *want {
	if !l.root.reads {
		return l.hold.want
	}
	w := *l.hold.want
	w.mode = driver.Shared
	return &w
}

// covers reports whether who has what is wanted here has what the other one wants, too.
func (w *want) covers(other *want) bool {
	switch w.mode {
	case driver.Shared:
		return other.mode == driver.Shared && (w.role.includes(upgradeable) || !other.role.includes(upgradeable))
	case driver.Write:
		return other.mode == driver.Write || !other.role.includes(upgradeable)
	default:
		return true
	}
}

// wouldWaitForItself refuses a lock that would be waited for by who is in its way.
func (l *Lease) wouldWaitForItself(w *want) error {
	has, wanted := l.isHadFor().describe(), w.describe()
	return input.Errorf("ctx", "carries a lease of this lock, %s, which is in the way of one %s", has, wanted)
}

// describe says what is wanted in the words of [RWMutex].
func (w *want) describe() string {
	switch {
	case w.mode == driver.Write:
		return "to write"
	case w.role.includes(upgradeable):
		return "to read and to upgrade"
	default:
		return "to read"
	}
}

// outer returns the lease in whose context this one was taken.
func (l *Lease) outer() *Lease {
	outer, _ := l.parent.Value(leaseKey{}).(*Lease)
	return outer
}

// reenter returns one more lease of a lock that is held, and none of one that is not
// any more, or by this lease: others may share the grant. The options of the first Lock go on to apply.
func (l *Lease) reenter(ctx context.Context) *Lease {
	h, root := l.hold, l.root
	h.checkClock()
	h.q.part.mu.Lock()
	defer h.q.part.mu.Unlock()
	if l.unlocked || root.entered == 0 || h.lease != root || h.state != possessed || h.ending {
		return nil
	}
	return root.enterAgain(ctx)
}

// enterAgain returns one more lease of a lock that is held. part.mu is held.
func (l *Lease) enterAgain(ctx context.Context) *Lease {
	l.entered++
	inner := &Lease{}
	inner.start(ctx, l.hold, l.token)
	inner.root = l
	if l.inner == nil {
		l.inner = make(map[*Lease]struct{})
	}
	l.inner[inner] = struct{}{}
	return inner
}
