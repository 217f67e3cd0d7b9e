package lock_test

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// faulty is a store in memory behind a line that can be made to fail, with a clock that
// can be made to jump. The zero hooks let everything pass. They see requests and contexts,
// and may break off what a context ends, or ignore it, where the switches of
// [bedrocktest.Backend] only fail or delay.
type faulty struct {
	*bedrocktest.Backend
	start time.Time
	jump  atomic.Int64

	mu    sync.Mutex
	hooks hooks

	acquires, renewals, releases, closes atomic.Int64

	ownersMu sync.Mutex
	owners   []string // of every Acquire, in order
}

// hooks stand in for the calls of the backend, each of which they may pass on.
type hooks struct {
	acquire func(ctx context.Context, req driver.Request) (driver.Grant, error)
	renew   func(ctx context.Context, grants []driver.Grant) []error
	release func(ctx context.Context, g driver.Grant) (int, error)
	watch   func(ctx context.Context) error // before listening begins
}

func newFaulty(store *memlock.Store) *faulty {
	return &faulty{Backend: bedrocktest.NewBackend(memlock.NewBackend(store)), start: time.Now()}
}

// set replaces the hooks.
func (f *faulty) set(h hooks) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hooks = h
}

func (f *faulty) get() hooks {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hooks
}

// fail makes every call fail with err at once.
func (f *faulty) fail(err error) {
	f.set(hooks{
		acquire: func(context.Context, driver.Request) (driver.Grant, error) { return driver.Grant{}, err },
		renew:   func(_ context.Context, grants []driver.Grant) []error { return allFail(grants, err) },
		release: func(context.Context, driver.Grant) (int, error) { return 0, err },
	})
}

// freeze makes every call hang until its context ends.
func (f *faulty) freeze() {
	f.set(hooks{
		acquire: func(ctx context.Context, _ driver.Request) (driver.Grant, error) {
			<-ctx.Done()
			return driver.Grant{}, ctx.Err()
		},
		renew: func(ctx context.Context, grants []driver.Grant) []error {
			<-ctx.Done()
			return allFail(grants, ctx.Err())
		},
		release: func(ctx context.Context, _ driver.Grant) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		},
	})
}

// heal lets everything pass again.
func (f *faulty) heal() { f.set(hooks{}) }

// calls returns how many calls of any kind there were.
func (f *faulty) calls() int64 {
	return f.acquires.Load() + f.renewals.Load() + f.releases.Load()
}

func (f *faulty) seen() []string {
	f.ownersMu.Lock()
	defer f.ownersMu.Unlock()
	return append([]string(nil), f.owners...)
}

// Acquire implements [driver.Backend].
func (f *faulty) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	return f.ask(ctx, req, f.Backend.Acquire)
}

// Stand implements [driver.Successor].
func (f *faulty) Stand(ctx context.Context, req driver.Request) (driver.Grant, error) {
	return f.ask(ctx, req, f.Backend.Stand)
}

func (f *faulty) ask(
	ctx context.Context, req driver.Request, pass func(context.Context, driver.Request) (driver.Grant, error),
) (driver.Grant, error) {
	f.acquires.Add(1)
	f.ownersMu.Lock()
	f.owners = append(f.owners, req.Owner)
	f.ownersMu.Unlock()
	if hook := f.get().acquire; hook != nil {
		return hook(ctx, req)
	}
	return pass(ctx, req)
}

// Renew implements [driver.Backend].
func (f *faulty) Renew(ctx context.Context, grants []driver.Grant) []error {
	f.renewals.Add(1)
	if hook := f.get().renew; hook != nil {
		return hook(ctx, grants)
	}
	return f.Backend.Renew(ctx, grants)
}

// Release implements [driver.Backend].
func (f *faulty) Release(ctx context.Context, g driver.Grant) (int, error) {
	f.releases.Add(1)
	if hook := f.get().release; hook != nil {
		return hook(ctx, g)
	}
	return f.Backend.Release(ctx, g)
}

// Close implements [driver.Backend].
func (f *faulty) Close() error {
	f.closes.Add(1)
	return f.Backend.Close()
}

// Watch implements [driver.Waiter].
func (f *faulty) Watch(ctx context.Context, name string, _ driver.Kind) (driver.Watch, error) {
	if hook := f.get().watch; hook != nil {
		if err := hook(ctx); err != nil {
			return nil, err
		}
	}
	return f.Backend.Watch(ctx, name, driver.Mutex)
}

// Now implements [driver.Timekeeper].
func (f *faulty) Now() time.Duration { return time.Since(f.start) + time.Duration(f.jump.Load()) }

// suspend makes the clock jump, as it does when the machine was asleep: time
// passed, but no timer ran.
func (f *faulty) suspend(d time.Duration) { f.jump.Add(int64(d)) }

func allFail(grants []driver.Grant, err error) []error {
	errs := make([]error, len(grants))
	for i := range errs {
		errs[i] = err
	}
	return errs
}

// slowly passes a request on, and holds the answer back for some time.
func slowly(f *faulty, d time.Duration) func(context.Context, driver.Request) (driver.Grant, error) {
	return func(ctx context.Context, req driver.Request) (driver.Grant, error) {
		grant, err := f.Backend.Acquire(ctx, req)
		time.Sleep(d)
		return grant, err
	}
}

// slowRenewals does the same with renewals.
func slowRenewals(f *faulty, d time.Duration) func(context.Context, []driver.Grant) []error {
	return func(ctx context.Context, grants []driver.Grant) []error {
		errs := f.Backend.Renew(ctx, grants)
		time.Sleep(d)
		return errs
	}
}
