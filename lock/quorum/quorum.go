package quorum

import (
	"cmp"
	"context"
	"time"

	"github.com/bedrock-go/bedrock/internal/several"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// New returns a client whose locks are votes of those backends, which it owns from then on. It makes no call: that each
// of them is another store is found out with the first request. A [driver.NonVoter] is refused.
func New(nodes []driver.Backend, opts *Options) (*lock.Client, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Lock.TTL = cmp.Or(o.Lock.TTL, defaultTTL) // nobody else says it
	b, err := NewBackend(nodes, &o)
	if err != nil {
		return nil, err
	}
	return lock.New(b, &o.Lock)
}

// NewBackend returns the backend alone. Where Lock has no TTL, its client may have one that is shorter than 30 s, and
// so may the quarantine be.
func NewBackend(nodes []driver.Backend, opts *Options) (driver.Backend, error) {
	s, err := opts.withDefaults(len(nodes))
	if err != nil {
		return nil, err
	}
	b := &backend{settings: s}
	b.stores, err = several.New(nodes, several.Rules{
		Keep: s.keep, Need: s.need, Limit: longestCall(&s.Lock), Retry: retryNode, Complete: b.isFree,
	})
	if err != nil {
		return nil, err
	}
	if b.stores.Virtual() {
		return &virtual{b}, nil
	}
	return b, nil
}

// retryNode is for how long a node that has not answered is left alone.
const retryNode = 100 * time.Millisecond

// longestCall is a little longer than package lock waits for an answer, so that it is the one to say that there was
// none.
func longestCall(o *lock.Options) time.Duration { return o.AnswerTime() * 3 / 2 }

// backend implements the driver interfaces on several others.
type backend struct {
	settings
	stores *several.Stores
}

// virtual is a backend all of whose nodes live in this process.
type virtual struct{ *backend }

var (
	_ driver.Backend    = (*backend)(nil)
	_ driver.Waiter     = (*backend)(nil)
	_ driver.Notifier   = (*backend)(nil)
	_ driver.Inspector  = (*backend)(nil)
	_ driver.Forcer     = (*backend)(nil)
	_ driver.Pleader    = (*backend)(nil)
	_ driver.Attender   = (*backend)(nil)
	_ driver.Checker    = (*backend)(nil)
	_ driver.Timekeeper = (*virtual)(nil)
)

// Now implements [driver.Timekeeper].
func (v *virtual) Now() time.Duration { return v.stores.Now() }

// isFree reports whether so many nodes have told of a release, or had nothing to tell of, that somebody else can have
// the lock. What is told where the lock was not refused was only given back.
func (b *backend) isFree(told, refused []bool, granted int) (now, soon bool) {
	for i, yes := range told {
		if yes && (refused == nil || refused[i]) {
			granted++
			soon = true
		}
	}
	return soon && granted >= b.need, soon
}

// Renew implements [driver.Backend].
func (b *backend) Renew(ctx context.Context, grants []driver.Grant) []error {
	return b.stores.Renew(ctx, grants)
}

// Release implements [driver.Backend].
func (b *backend) Release(ctx context.Context, g driver.Grant) (waiting int, err error) {
	return b.stores.Release(ctx, g)
}

// Close implements [driver.Backend].
func (b *backend) Close() error { return b.stores.Close() }

// Watch implements [driver.Waiter]. Whoever listens at as many nodes as keep others out hears of every release.
func (b *backend) Watch(ctx context.Context, name string, kind driver.Kind) (driver.Watch, error) {
	return b.stores.Watch(ctx, name, kind, b.keep)
}

// Notify implements [driver.Notifier].
func (b *backend) Notify(tell func(driver.Message)) { b.stores.Notify(tell) }

// Inspect implements [driver.Inspector].
func (b *backend) Inspect(ctx context.Context, name string) (driver.Info, error) {
	return b.stores.Inspect(ctx, name, b.Majority)
}

// Attend implements [driver.Attender].
func (b *backend) Attend(_ context.Context, client string, tell func(driver.Message)) (stop func(), err error) {
	return b.stores.Attend(client, tell)
}

// List implements [driver.Inspector].
func (b *backend) List(ctx context.Context, prefix string, limit int) ([]driver.Info, error) {
	return b.stores.List(ctx, prefix, limit, b.Majority)
}

// ForceRelease implements [driver.Forcer].
func (b *backend) ForceRelease(ctx context.Context, name string) (bool, error) {
	return b.stores.ForceRelease(ctx, name, b.Majority)
}

// Plead implements [driver.Pleader].
func (b *backend) Plead(ctx context.Context, name string, p driver.Plea) (int, error) {
	return b.stores.Plead(ctx, name, p, b.Majority)
}

// Check implements [driver.Checker].
func (b *backend) Check(ctx context.Context) ([]driver.Finding, error) {
	return b.stores.Check(ctx, b.need)
}
