package bedrocktest

import (
	"context"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/internal/bootclock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// Backend is a backend of locks that fails on demand. A call whose context ends while
// it is delayed or frozen returns at once, and reaches the store later all the same, as
// a packet on its way would. What the inner backend cannot do it refuses with
// [driver.ErrUnsupported], and cannot be told to fail at.
type Backend struct {
	*faults
	inner driver.Backend
}

var (
	_ driver.Backend    = (*Backend)(nil)
	_ driver.Waiter     = (*Backend)(nil)
	_ driver.Resumer    = (*Backend)(nil)
	_ driver.Successor  = (*Backend)(nil)
	_ driver.TurnWaiter = (*Backend)(nil)
	_ driver.Sharder    = (*Backend)(nil)
	_ driver.Timekeeper = (*Backend)(nil)
	_ driver.Inspector  = (*Backend)(nil)
	_ driver.Forcer     = (*Backend)(nil)
	_ driver.Checker    = (*Backend)(nil)
	_ driver.Identifier = (*Backend)(nil)
	_ driver.Bundler    = (*Backend)(nil)
	_ driver.Annotator  = (*Backend)(nil)
	_ driver.Latches    = (*Backend)(nil)
	_ driver.Pleader    = (*Backend)(nil)
	_ driver.Attender   = (*Backend)(nil)
)

func backendMethods() []Method {
	return []Method{
		Acquire, Renew, Release, Watch, Inspect, List, ForceRelease, Check, Identity,
		AcquireAll, Annotate, Downgrade, SetLatch, CountDown, LatchCount, DropLatch, Plead,
	}
}

// lackedByBackend lists what is optional and that backend does not have.
func lackedByBackend(inner driver.Backend) (lacking []Method) {
	if _, ok := inner.(driver.Waiter); !ok {
		lacking = append(lacking, Watch)
	}
	if _, ok := inner.(driver.Inspector); !ok {
		lacking = append(lacking, Inspect, List)
	}
	if _, ok := inner.(driver.Forcer); !ok {
		lacking = append(lacking, ForceRelease)
	}
	if _, ok := inner.(driver.Checker); !ok {
		lacking = append(lacking, Check)
	}
	if _, ok := inner.(driver.Identifier); !ok {
		lacking = append(lacking, Identity)
	}
	if _, ok := inner.(driver.Bundler); !ok {
		lacking = append(lacking, AcquireAll)
	}
	if _, ok := inner.(driver.Annotator); !ok {
		lacking = append(lacking, Annotate)
	}
	if _, ok := inner.(driver.Downgrader); !ok {
		lacking = append(lacking, Downgrade)
	}
	if _, ok := inner.(driver.Latches); !ok {
		lacking = append(lacking, SetLatch, CountDown, LatchCount, DropLatch)
	}
	if _, ok := inner.(driver.Pleader); !ok {
		lacking = append(lacking, Plead)
	}
	return lacking
}

// NewBackend returns a backend that does what inner does until told otherwise.
func NewBackend(inner driver.Backend) *Backend {
	return &Backend{
		faults: newFaults(driver.ErrUnavailable, backendMethods(), lackedByBackend(inner)), inner: inner,
	}
}

// Acquire implements [driver.Backend].
func (b *Backend) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	return through(ctx, b.faults, Acquire, func(ctx context.Context) (driver.Grant, error) {
		return b.inner.Acquire(ctx, req)
	})
}

// Stand implements [driver.Successor]. Faults of Acquire hit it. Where the inner backend passes no
// lock on, nobody stands in line.
func (b *Backend) Stand(ctx context.Context, req driver.Request) (driver.Grant, error) {
	inner, ok := b.inner.(driver.Successor)
	if !ok {
		return b.Acquire(ctx, req)
	}
	return through(ctx, b.faults, Acquire, func(ctx context.Context) (driver.Grant, error) {
		return inner.Stand(ctx, req)
	})
}

// Inherit implements [driver.Successor]. No fault keeps what is granted from whom it is told.
func (b *Backend) Inherit(tell func(driver.Grant)) {
	if inner, ok := b.inner.(driver.Successor); ok {
		inner.Inherit(tell)
	}
}

// Notify implements [driver.Notifier]. No fault keeps a message from whom it is for.
func (b *Backend) Notify(tell func(driver.Message)) {
	if inner, ok := b.inner.(driver.Notifier); ok {
		inner.Notify(tell)
	}
}

// Resume implements [driver.Resumer]. Faults of Watch do not hit it: it asks no store.
func (b *Backend) Resume(name string, kind driver.Kind) driver.Watch {
	if inner, ok := b.inner.(driver.Resumer); ok {
		return inner.Resume(name, kind)
	}
	return nil
}

// Renew implements [driver.Backend]. A fault hits every grant of the batch.
func (b *Backend) Renew(ctx context.Context, grants []driver.Grant) []error {
	own := slices.Clone(grants) // the caller may leave, and use its memory for others
	errs, err := through(ctx, b.faults, Renew, func(ctx context.Context) ([]error, error) {
		return b.inner.Renew(ctx, own), nil
	})
	if err == nil {
		return errs
	}
	errs = make([]error, len(grants))
	for i := range errs {
		errs[i] = err
	}
	return errs
}

// Release implements [driver.Backend].
func (b *Backend) Release(ctx context.Context, g driver.Grant) (int, error) {
	return through(ctx, b.faults, Release, func(ctx context.Context) (int, error) {
		return b.inner.Release(ctx, g)
	})
}

// Watch implements [driver.Waiter]. A watch that its caller does not get is closed.
func (b *Backend) Watch(ctx context.Context, name string, kind driver.Kind) (driver.Watch, error) {
	inner, ok := b.inner.(driver.Waiter)
	if !ok {
		return nil, driver.ErrUnsupported
	}
	return throughOrDrop(ctx, b.faults, Watch, func(ctx context.Context) (driver.Watch, error) {
		return inner.Watch(ctx, name, kind)
	}, driver.Watch.Close)
}

// WatchTurn implements [driver.TurnWaiter]. Faults of Watch hit it.
func (b *Backend) WatchTurn(ctx context.Context, name, owner string) (driver.Watch, error) {
	inner, ok := b.inner.(driver.TurnWaiter)
	if !ok {
		return nil, driver.ErrUnsupported
	}
	return throughOrDrop(ctx, b.faults, Watch, func(ctx context.Context) (driver.Watch, error) {
		return inner.WatchTurn(ctx, name, owner)
	}, driver.Watch.Close)
}

// Inspect implements [driver.Inspector].
func (b *Backend) Inspect(ctx context.Context, name string) (driver.Info, error) {
	inner, ok := b.inner.(driver.Inspector)
	if !ok {
		return driver.Info{}, driver.ErrUnsupported
	}
	return through(ctx, b.faults, Inspect, func(ctx context.Context) (driver.Info, error) {
		return inner.Inspect(ctx, name)
	})
}

// List implements [driver.Inspector].
func (b *Backend) List(ctx context.Context, prefix string, limit int) ([]driver.Info, error) {
	inner, ok := b.inner.(driver.Inspector)
	if !ok {
		return nil, driver.ErrUnsupported
	}
	return through(ctx, b.faults, List, func(ctx context.Context) ([]driver.Info, error) {
		return inner.List(ctx, prefix, limit)
	})
}

// ForceRelease implements [driver.Forcer].
func (b *Backend) ForceRelease(ctx context.Context, name string) (bool, error) {
	inner, ok := b.inner.(driver.Forcer)
	if !ok {
		return false, driver.ErrUnsupported
	}
	return through(ctx, b.faults, ForceRelease, func(ctx context.Context) (bool, error) {
		return inner.ForceRelease(ctx, name)
	})
}

// Check implements [driver.Checker].
func (b *Backend) Check(ctx context.Context) ([]driver.Finding, error) {
	inner, ok := b.inner.(driver.Checker)
	if !ok {
		return nil, driver.ErrUnsupported
	}
	return through(ctx, b.faults, Check, inner.Check)
}

// Identity implements [driver.Identifier].
func (b *Backend) Identity(ctx context.Context) (string, error) {
	inner, ok := b.inner.(driver.Identifier)
	if !ok {
		return "", driver.ErrUnsupported
	}
	return through(ctx, b.faults, Identity, inner.Identity)
}

// Now implements [driver.Timekeeper], by the clock the inner backend is judged by.
func (b *Backend) Now() time.Duration {
	if own, ok := b.inner.(driver.Timekeeper); ok {
		return own.Now()
	}
	return bootclock.Now()
}

// Shard implements [driver.Sharder].
func (b *Backend) Shard(name string) int {
	if own, ok := b.inner.(driver.Sharder); ok {
		return own.Shard(name)
	}
	return 0
}

// Close implements [driver.Backend]. It waits for calls that are delayed, and for
// frozen ones until they are thawed.
func (b *Backend) Close() error {
	b.late.waitNone()
	return b.inner.Close()
}
