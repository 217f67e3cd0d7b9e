package lock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/sleep"
)

// DoOptions configure [Do]. The zero value and nil mean: wait as long as the
// context allows.
type DoOptions struct {
	// Wait is the longest wait for the lock, besides the context's and the lock's own
	// limit. Defaults to no other limit. -1 means not to wait at all.
	Wait time.Duration
	// Retries, if not 0, asks for the lock at most 1+Retries times, RetryDelay
	// apart, instead of queueing for it.
	Retries int
	// RetryDelay is the pause between tries. Defaults to 100 ms.
	RetryDelay time.Duration
	// Fallback is called instead of the function when others had the lock for all
	// of Wait or Retries; its error is Do's.
	Fallback func(ctx context.Context) error
}

// Do runs fn while it holds the lock. The context given to fn is the lease's: it
// ends when the lock is lost, and re-enters it. When the lock is held by others for
// longer than the options allow Do runs the fallback, or fails with [ErrHeld]. A
// backend that does not answer is another matter: nobody knows then whether somebody
// is at it, so its error is Do's. It comes when [Options.Patience] or Wait is over, whichever is
// sooner; after Wait it matches [context.DeadlineExceeded], too.
//
// A [Mutex] with an empty name takes the full name of fn, which must then be a
// named function or method: "example.com/shop/jobs.Reindex". All instances of a
// generic function have one name.
//
// The error joins fn's with what Unlock reports: a lock lost while fn ran is an
// error matching [ErrLost] even if fn did not notice.
func Do(ctx context.Context, l Lockable, fn func(ctx context.Context, l *Lease) error, opts *DoOptions) (err error) {
	if ctx == nil {
		return errNilContext()
	}
	if l == nil {
		return &InvalidError{Field: "lock", Problem: "is nil"}
	}
	if fn == nil {
		return &InvalidError{Field: "function", Problem: "is nil"}
	}
	var o DoOptions
	if opts != nil {
		o = *opts
	}
	if err := o.validate(); err != nil {
		return err
	}
	if l, err = namedAfter(fn, l); err != nil {
		return err
	}
	lease, end, err := o.acquire(ctx, l)
	defer end()
	if errors.Is(err, ErrHeld) && o.Fallback != nil {
		return o.Fallback(ctx)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lease.Unlock(ctx)) }()
	return fn(lease.Context(), lease)
}

func (o *DoOptions) validate() error {
	switch {
	case o.Wait != -1 && o.Wait != 0 && o.Wait < leastTime:
		return input.Errorf("wait", "is %s, allowed are %s and longer; use -1 for no wait", o.Wait, leastTime)
	case o.Retries < 0:
		return input.Errorf("retries", "is %d, it cannot be negative", o.Retries)
	case o.Retries > 0 && o.Wait != 0:
		return &InvalidError{Field: "retries", Problem: "and wait exclude each other"}
	}
	return checkTime("retryDelay", o.RetryDelay)
}

// acquire takes the lock the way the options say. What it returns as end is called after
// the work.
func (o *DoOptions) acquire(ctx context.Context, l Lockable) (lease *Lease, end func(), err error) {
	if o.Wait > 0 {
		lasting, cancel := context.WithCancelCause(ctx)
		lease, err = o.lockWithin(lasting, cancel, l)
		return lease, func() { cancel(nil) }, err
	}
	switch {
	case o.Retries > 0:
		lease, err = o.retry(ctx, l)
	case o.Wait == -1:
		lease, err = l.TryLock(ctx)
	default:
		lease, err = l.Lock(ctx)
	}
	return lease, func() {}, err
}

// lockWithin bounds the wait and nothing else: a deadline would end the lease's context,
// too, which is made from ctx. A lease that comes in the very moment of that end is given
// back.
func (o *DoOptions) lockWithin(ctx context.Context, cancel context.CancelCauseFunc, l Lockable) (*Lease, error) {
	timer := time.AfterFunc(o.Wait, func() { cancel(errWaited) })
	lease, err := l.Lock(ctx)
	inTime := timer.Stop()
	switch {
	case inTime:
		return lease, err
	case err == nil:
		return nil, errors.Join(&HeldError{Name: l.Name()}, lease.Unlock(ctx))
	case errors.Is(err, ErrHeld):
		return nil, err
	default:
		return nil, fmt.Errorf("%w: %w", errWaited, err)
	}
}

func (o *DoOptions) retry(ctx context.Context, l Lockable) (*Lease, error) {
	delay, start := cmp.Or(o.RetryDelay, 100*time.Millisecond), time.Now()
	for tries := 0; ; tries++ {
		lease, err := l.TryLock(ctx)
		if !errors.Is(err, ErrHeld) || tries == o.Retries {
			return lease, err
		}
		if !sleep.For(ctx, delay) {
			return nil, waitError(ctx, l.Name(), time.Since(start))
		}
	}
}

// anonymous matches what the compiler calls a function literal. In between may be the names
// of functions that it has put in the place of their calls: main.main.func1.helper.2.
var anonymous = regexp.MustCompile(`\.func\d+(\.(.+\.)?\d+)?$`)

// namedAfter returns l, or a copy named after fn if it has no name.
func namedAfter(fn any, l Lockable) (Lockable, error) {
	nameless, ok := l.(nameable)
	if !ok || l.Name() != "" {
		return l, nil
	}
	name := strings.TrimSuffix(runtime.FuncForPC(reflect.ValueOf(fn).Pointer()).Name(), "-fm")
	if anonymous.MatchString(name) {
		return nil, &InvalidError{
			Field: "name", Problem: "is empty, and a function literal has no lasting name to take instead",
		}
	}
	return nameless.withName(name), nil
}
