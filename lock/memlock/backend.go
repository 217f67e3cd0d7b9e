package memlock

import (
	"context"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// backend is one client's connection to a store.
type backend struct {
	store *Store
	tell  func(driver.Grant) // nil where nobody may be granted anything unasked
	note  func(driver.Message)
	many  bool // clients have their grants by it, who attend; guarded by store.mu
}

var (
	_ driver.Backend    = (*backend)(nil)
	_ driver.Waiter     = (*backend)(nil)
	_ driver.Successor  = (*backend)(nil)
	_ driver.TurnWaiter = (*backend)(nil)
	_ driver.Notifier   = (*backend)(nil)
	_ driver.Timekeeper = (*backend)(nil)
	_ driver.Inspector  = (*backend)(nil)
	_ driver.Forcer     = (*backend)(nil)
	_ driver.Checker    = (*backend)(nil)
	_ driver.Identifier = (*backend)(nil)
	_ driver.Bundler    = (*backend)(nil)
	_ driver.Annotator  = (*backend)(nil)
	_ driver.Downgrader = (*backend)(nil)
	_ driver.Latches    = (*backend)(nil)
	_ driver.Pleader    = (*backend)(nil)
	_ driver.Attender   = (*backend)(nil)
)

// Acquire implements [driver.Backend].
func (b *backend) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	if err := b.check(ctx, &req); err != nil {
		return driver.Grant{}, err
	}
	switch {
	case req.Fair:
		return b.store.joinLine(b, req, false)
	case req.Mode != driver.Exclusive:
		return b.store.joinCrowd(b, &req)
	}
	return b.store.acquire(b, req)
}

// check refuses what this backend lacks.
func (b *backend) check(ctx context.Context, req *driver.Request) error {
	if err := ctx.Err(); err != nil {
		return unavailable(err)
	}
	if req.Fair && req.Mode != driver.Exclusive {
		return fmt.Errorf("%w: first come, first served in mode %s", driver.ErrUnsupported, req.Mode)
	}
	return checkOwner(req.Owner)
}

// Renew implements [driver.Backend].
func (b *backend) Renew(_ context.Context, grants []driver.Grant) []error {
	errs := make([]error, len(grants))
	for i := range grants {
		if errs[i] = checkOwner(grants[i].Owner); errs[i] == nil {
			errs[i] = b.store.renew(grants[i])
		}
	}
	return errs
}

// Release implements [driver.Backend].
func (b *backend) Release(_ context.Context, g driver.Grant) (int, error) {
	if err := checkOwner(g.Owner); err != nil {
		return 0, err
	}
	return b.store.release(b, g)
}

// Notify implements [driver.Notifier].
func (b *backend) Notify(tell func(driver.Message)) { b.note = tell }

// Close implements [driver.Backend].
func (b *backend) Close() error { return nil }

// Now implements [driver.Timekeeper]: the store stops when the process does.
func (b *backend) Now() time.Duration { return b.store.since(b.store.started) }

// Inspect implements [driver.Inspector].
func (b *backend) Inspect(_ context.Context, name string) (driver.Info, error) {
	return b.store.inspect(name), nil
}

// List implements [driver.Inspector].
func (b *backend) List(_ context.Context, prefix string, limit int) ([]driver.Info, error) {
	return b.store.list(prefix, limit), nil
}

// ForceRelease implements [driver.Forcer].
func (b *backend) ForceRelease(_ context.Context, name string) (bool, error) {
	return b.store.force(name)
}

// Plead implements [driver.Pleader].
func (b *backend) Plead(ctx context.Context, name string, p driver.Plea) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, unavailable(err)
	}
	return b.store.plead(name, p), nil
}

// Check implements [driver.Checker].
func (b *backend) Check(context.Context) ([]driver.Finding, error) {
	return []driver.Finding{{
		Level: driver.Notice,
		What:  "the locks are in this process's memory",
		Means: "no other process sees them, and they end with it",
	}}, nil
}

// checkOwner refuses who would meet the fields that other stores keep beside owners.
func checkOwner(owner string) error { return driver.Refused(driver.CheckOwner(owner)) }

// unavailable says that nothing happened because the context was over.
func unavailable(err error) error { return fmt.Errorf("%w: %w", driver.ErrUnavailable, err) }
