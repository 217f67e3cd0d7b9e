package lock

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// DoOptions configure [Do]. The zero value and nil mean: wait as long as the
// context allows.
type DoOptions struct {
	// Wait is the longest wait for the lock. Defaults to no limit but the
	// context's and the mutex's own. -1 means not to wait at all.
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
// is at it, so its error is Do's, and it comes when the backend's client gives up.
//
// A mutex with an empty name takes the full name of fn, which must then be a
// named function or method: "example.com/shop/jobs.Reindex". All instances of a
// generic function have one name.
//
// The error joins fn's with what Unlock reports: a lock lost while fn ran is an
// error matching [ErrLost] even if fn did not notice.
func Do(ctx context.Context, m *Mutex, fn func(ctx context.Context, l *Lease) error, opts *DoOptions) (err error) {
	if fn == nil {
		return &InvalidError{"function", "is nil"}
	}
	var o DoOptions
	if opts != nil {
		o = *opts
	}
	if err := o.validate(); err != nil {
		return err
	}
	if m, err = m.namedAfter(fn); err != nil {
		return err
	}
	lease, err := o.lock(ctx, m)
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
	case o.Wait < -1:
		return &InvalidError{"Wait", fmt.Sprintf("is %s; use -1 for no wait", o.Wait)}
	case o.Retries < 0:
		return &InvalidError{"Retries", fmt.Sprintf("is %d, it cannot be negative", o.Retries)}
	case o.RetryDelay < 0:
		return &InvalidError{"RetryDelay", fmt.Sprintf("is %s, it cannot be negative", o.RetryDelay)}
	case o.Retries > 0 && o.Wait != 0:
		return &InvalidError{"Retries", "and Wait exclude each other"}
	}
	return nil
}

// lock takes the lock the way the options say.
func (o *DoOptions) lock(ctx context.Context, m *Mutex) (*Lease, error) {
	switch {
	case o.Retries > 0:
		return o.retry(ctx, m)
	case o.Wait == -1:
		return m.TryLock(ctx)
	case o.Wait > 0:
		m = m.clone()
		m.opts.Wait = o.Wait
	}
	return m.Lock(ctx)
}

func (o *DoOptions) retry(ctx context.Context, m *Mutex) (*Lease, error) {
	delay, start := orDefault(o.RetryDelay, 100*time.Millisecond), time.Now()
	for tries := 0; ; tries++ {
		lease, err := m.TryLock(ctx)
		if !errors.Is(err, ErrHeld) || tries == o.Retries {
			return lease, err
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, waitError(ctx, m.name, time.Since(start))
		}
	}
}

func (m *Mutex) clone() *Mutex {
	other := *m
	return &other
}

// anonymous matches what the compiler calls a function literal. In between may be the names
// of functions that it has put in the place of their calls: main.main.func1.helper.2.
var anonymous = regexp.MustCompile(`\.func\d+(\.(.+\.)?\d+)?$`)

// namedAfter returns m, or a copy named after fn if m has no name.
func (m *Mutex) namedAfter(fn any) (*Mutex, error) {
	if m.name != "" {
		return m, nil
	}
	name := strings.TrimSuffix(runtime.FuncForPC(reflect.ValueOf(fn).Pointer()).Name(), "-fm")
	if anonymous.MatchString(name) {
		return nil, &InvalidError{"name", "is empty, and a function literal has no lasting name to take instead"}
	}
	named := m.clone()
	named.name = name
	named.err = named.validate()
	return named, nil
}
