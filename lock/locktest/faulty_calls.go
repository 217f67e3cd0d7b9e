package locktest

import (
	"context"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Acquire implements [driver.Backend].
func (f *Faulty) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	return through(ctx, f, Acquire, func(ctx context.Context) (driver.Grant, error) {
		return f.inner.Acquire(ctx, req)
	})
}

// Renew implements [driver.Backend]. A fault hits every grant of the batch.
func (f *Faulty) Renew(ctx context.Context, grants []driver.Grant) []error {
	errs, err := through(ctx, f, Renew, func(ctx context.Context) ([]error, error) {
		return f.inner.Renew(ctx, grants), nil
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
func (f *Faulty) Release(ctx context.Context, g driver.Grant) (int, error) {
	return through(ctx, f, Release, func(ctx context.Context) (int, error) {
		return f.inner.Release(ctx, g)
	})
}

// Watch implements [driver.Waiter]. A watch that comes too late is closed.
func (f *Faulty) Watch(ctx context.Context, name string) (driver.Watch, error) {
	inner, ok := f.inner.(driver.Waiter)
	if !ok {
		return nil, driver.ErrUnsupported
	}
	caller := ctx
	return through(ctx, f, Watch, func(ctx context.Context) (driver.Watch, error) {
		w, err := inner.Watch(ctx, name)
		if err == nil && caller.Err() != nil {
			w.Close()
			return nil, caller.Err()
		}
		return w, err
	})
}

// Inspect implements [driver.Inspector].
func (f *Faulty) Inspect(ctx context.Context, name string) (driver.Info, error) {
	inner, ok := f.inner.(driver.Inspector)
	if !ok {
		return driver.Info{}, driver.ErrUnsupported
	}
	return through(ctx, f, Inspect, func(ctx context.Context) (driver.Info, error) {
		return inner.Inspect(ctx, name)
	})
}

// List implements [driver.Inspector].
func (f *Faulty) List(ctx context.Context, prefix string, limit int) ([]driver.Info, error) {
	inner, ok := f.inner.(driver.Inspector)
	if !ok {
		return nil, driver.ErrUnsupported
	}
	return through(ctx, f, Inspect, func(ctx context.Context) ([]driver.Info, error) {
		return inner.List(ctx, prefix, limit)
	})
}

// ForceRelease implements [driver.Forcer].
func (f *Faulty) ForceRelease(ctx context.Context, name string) (bool, error) {
	inner, ok := f.inner.(driver.Forcer)
	if !ok {
		return false, driver.ErrUnsupported
	}
	return through(ctx, f, Force, func(ctx context.Context) (bool, error) {
		return inner.ForceRelease(ctx, name)
	})
}

// Check implements [driver.Checker].
func (f *Faulty) Check(ctx context.Context) ([]driver.Finding, error) {
	inner, ok := f.inner.(driver.Checker)
	if !ok {
		return nil, driver.ErrUnsupported
	}
	return inner.Check(ctx)
}
