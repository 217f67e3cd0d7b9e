package election

import (
	"context"
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/internal/chance"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/internal/attempt"
	"github.com/bedrock-go/bedrock/lock/internal/outcome"
)

// Election is among all who have an Election of that name, in one process as between processes. It holds no state,
// and one may be used for any number of campaigns and observers.
//
// An Election is safe for concurrent use.
type Election struct {
	locks *lock.Client
	name  string
	opts  Options
	mutex *lock.Mutex
	draw  chance.Draw
	err   error // why the election cannot be used
}

// New returns the election of that name. What is wrong with the client, the name or the options is reported by its
// methods, before any call to the backend.
func New(locks *lock.Client, name string, opts *Options) *Election {
	filled, err := opts.withDefaults()
	e := &Election{locks: locks, name: name, opts: filled, err: err}
	if locks == nil {
		e.err = &lock.InvalidError{Field: "locks", Problem: "is nil"}
		return e
	}
	e.draw = chance.Of(locks.Backend())
	e.mutex = filled.mutex(locks, name)
	if e.err == nil {
		e.err = whatIsWrongWith(e.mutex)
	}
	return e
}

// whatIsWrongWith returns what a lock says of its own options. It does so before it looks whether the context has
// ended, and this one has.
func whatIsWrongWith(m *lock.Mutex) error {
	ended, end := context.WithCancel(context.Background())
	end()
	if _, err := m.TryLock(ended); errors.Is(err, lock.ErrInvalid) {
		return err
	}
	return nil
}

// Name returns the election's name, which is that of the leader's lock.
func (e *Election) Name() string { return e.name }

// Campaign waits until it is the leader. Like a lock's, the context is not only the wait's: the term's context is made
// from it, and ends with it.
//
// The errors are those of [lock.Mutex.Lock]: whatever they say, no leadership is left behind.
func (e *Election) Campaign(ctx context.Context) (*Term, error) {
	if err := e.usable(ctx); err != nil {
		return nil, err
	}
	lease, err := e.mutex.Lock(ctx)
	if err != nil {
		return nil, err
	}
	return &Term{lease: lease}, nil
}

// usable reports what is wrong before anything happens.
func (e *Election) usable(ctx context.Context) error {
	switch {
	case ctx == nil:
		return &lock.InvalidError{Field: "ctx", Problem: "is nil"}
	case e.err != nil:
		return e.err
	case attempt.IsStopped(e.locks):
		return e.errorOf(lock.ErrClosed)
	case ctx.Err() != nil:
		return e.errorOf(outcome.ContextError(ctx))
	}
	return nil
}

// errorOf says of an error which election it is about.
func (e *Election) errorOf(err error) error { return fmt.Errorf("election %q: %w", e.name, err) }
