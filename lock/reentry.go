package lock

import "context"

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

// reenter returns one more lease of this lock if ctx carries one that goes on, and
// else none. A lease that is over excludes nobody: a context may outlive it, as one
// made by [context.WithoutCancel] does, and then stands in the queue like any other.
func (m *Mutex) reenter(ctx context.Context) *Lease {
	l, _ := ctx.Value(leaseKey{}).(*Lease)
	for ; l != nil; l = l.outer() {
		if l.hold.q.client != m.client || l.hold.grant.Name != m.want.name {
			continue
		}
		if inner := l.root.reenter(ctx); inner != nil {
			return inner
		}
	}
	return nil
}

// outer returns the lease in whose context this one was taken.
func (l *Lease) outer() *Lease {
	outer, _ := l.parent.Value(leaseKey{}).(*Lease)
	return outer
}

// reenter returns one more lease of a lock that is held, and none of one that is not
// any more. The options of the first Lock go on to apply.
func (l *Lease) reenter(ctx context.Context) *Lease {
	h := l.hold
	h.checkClock()
	h.q.part.mu.Lock()
	defer h.q.part.mu.Unlock()
	if l.entered == 0 || h.lease != l || h.state != possessed {
		return nil
	}
	l.entered++
	inner := &Lease{}
	inner.start(ctx, h, l.token)
	inner.root = l
	if l.inner == nil {
		l.inner = make(map[*Lease]struct{})
	}
	l.inner[inner] = struct{}{}
	return inner
}
