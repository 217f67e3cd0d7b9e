package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/internal/sim"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// backend is one client's way to the store.
type backend struct {
	store  *store
	link   *sim.Link
	seed   sim.Seed
	skew   time.Duration // of this process's clock
	shards int
	lags   *lags
	leaves bool           // calls go on when their callers have gone
	twin   driver.Backend // on memlock; nil where the model is alone
	tell   func(driver.Grant)
	grants uint64 // messages of grants so far
	note   func(driver.Message)
	notes  uint64 // messages of the other kinds
}

var (
	_ driver.Backend    = (*backend)(nil)
	_ driver.Waiter     = (*backend)(nil)
	_ driver.Timekeeper = (*backend)(nil)
	_ driver.Sharder    = (*backend)(nil)
	_ driver.Forcer     = (*backend)(nil)
)

// answer is what the server says.
type answer[T any] struct {
	value T
	err   error
}

// askStore makes one request and tells what it left behind in the words of package
// driver.
func askStore[T any](ctx context.Context, b *backend, text string, serve func() (T, error)) (T, error) {
	b.store.judge.called(b.link.ID)
	a, err := sim.Call(ctx, b.link, text, func() answer[T] {
		value, err := serve()
		return answer[T]{value, err}
	})
	b.store.report.Trace("client %d: %s: %s", b.link.ID, text, errorText(errors.Join(err, a.err)))
	var left *sim.LeftError
	switch {
	case errors.Is(err, sim.ErrNotSent):
		return a.value, fmt.Errorf("%w: %w", driver.ErrUnavailable, err)
	case errors.As(err, &left) && b.leaves:
		return a.value, &driver.UnderwayError{Err: err, Ended: left.Ended}
	case err != nil:
		return a.value, err
	default:
		return a.value, a.err
	}
}

// errorText is an error without what differs from run to run.
func errorText(err error) string {
	switch held, ok := errors.AsType[*driver.HeldError](err); {
	case ok:
		return "held by " + short(held.Owner)
	case err == nil:
		return "done"
	default:
		return err.Error()
	}
}

// Acquire implements [driver.Backend].
func (b *backend) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	if err := req.CheckExclusive(); err != nil {
		return driver.Grant{}, err
	}
	return b.acquireWith(ctx, &req, "acquire ", b.acquire)
}

// acquireWith makes a request for a grant.
func (b *backend) acquireWith(
	ctx context.Context, req *driver.Request, text string, serve func(*driver.Request) (driver.Grant, error),
) (driver.Grant, error) {
	grant, err := askStore(ctx, b, text+req.Name+" for "+short(req.Owner), func() (driver.Grant, error) {
		return serve(req)
	})
	if err == nil && b.lags.behind(b.store.report.Now()) {
		return b.takeBack(ctx, grant)
	}
	return grant, err
}

// takeBack waits for replicas that do not confirm, and then releases a grant that
// does not count. It hardly outlasts its caller.
func (b *backend) takeBack(ctx context.Context, g driver.Grant) (driver.Grant, error) {
	if !sleep.For(ctx, b.lags.patience) {
		return driver.Grant{}, fmt.Errorf("waiting for replicas: %w", ctx.Err())
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeBackTime)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(takeBackGrace, cancel) })()
	if _, err := b.Release(bounded, g); err != nil {
		return driver.Grant{}, driver.Spent(errors.New("not confirmed, and not taken back: " + err.Error()))
	}
	return driver.Grant{}, driver.Spent(fmt.Errorf("%w: no replica confirmed", driver.ErrUnavailable))
}

const (
	takeBackTime  = 500 * time.Millisecond
	takeBackGrace = 100 * time.Millisecond
)

// Renew implements [driver.Backend].
func (b *backend) Renew(ctx context.Context, grants []driver.Grant) []error {
	var text strings.Builder
	text.WriteString("renew")
	for i := range grants {
		text.WriteString(" " + grants[i].Name + " of " + short(grants[i].Owner))
		b.store.judge.kept(&grants[i])
	}
	errs, err := askStore(ctx, b, text.String(), func() ([]error, error) {
		errs := make([]error, len(grants))
		for i := range grants {
			errs[i] = b.renew(&grants[i])
		}
		return errs, nil
	})
	if err != nil {
		errs = make([]error, len(grants))
		for i := range errs {
			errs[i] = err
		}
	}
	return errs
}

// Release implements [driver.Backend].
func (b *backend) Release(ctx context.Context, g driver.Grant) (int, error) {
	return askStore(ctx, b, "release "+g.Name+" of "+short(g.Owner), func() (int, error) {
		return b.release(&g)
	})
}

// ForceRelease implements [driver.Forcer].
func (b *backend) ForceRelease(ctx context.Context, name string) (bool, error) {
	return askStore(ctx, b, "force "+name, func() (bool, error) { return b.force(name), nil })
}

// Close implements [driver.Backend].
func (b *backend) Close() error { return nil }

// Now implements [driver.Timekeeper]: a clock that began at some time of its own.
func (b *backend) Now() time.Duration { return b.store.report.Now() + b.skew }

// Shard implements [driver.Sharder].
func (b *backend) Shard(name string) int { return int(name[len(name)-1]) % b.shards }

// Draw implements [chance.Source].
func (b *backend) Draw(n time.Duration) time.Duration {
	return b.seed.At(uint64(b.store.report.Now()), uint64(n)).Between(0, n)
}

// lags are times in which replicas are too far behind to confirm a grant.
type lags struct {
	patience time.Duration
	spans    []span
}

// since reports whether there has been such a time since one.
func (l *lags) since(at time.Duration) bool {
	return slices.ContainsFunc(l.spans, func(s span) bool { return s.to > at })
}

type span struct{ from, to time.Duration }

func (l *lags) behind(now time.Duration) bool {
	for _, s := range l.spans {
		if s.from <= now && now < s.to {
			return true
		}
	}
	return false
}
