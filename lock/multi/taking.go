package multi

import (
	"context"
	"errors"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/outcome"
)

// taking is one Lock or TryLock: the locks are taken from first to last.
type taking struct {
	locks []lock.Lockable
	next  int  // the first that is not had
	apart bool // the store has said that these are not to be had in one step
	lease *Lease
}

// lockAll waits for one lock after the other, and takes at once those after it that can be had in one step.
func (t *taking) lockAll() error {
	for t.next < len(t.locks) {
		held, err := t.tryTogether()
		if err != nil {
			return err
		}
		for t.next < held {
			if err := t.takeNext(lock.Lockable.Lock); err != nil {
				return err
			}
		}
	}
	return nil
}

// tryAll takes all of them if they are free.
func (t *taking) tryAll() error {
	for t.next < len(t.locks) {
		if bundle := t.bundleFromHere(); len(bundle) > 1 {
			leases, err := bundle[0].Client().TryAll(t.lease.ctx, bundle...)
			switch {
			case err == nil:
				t.had(leases)
			case !t.noteApart(err):
				return err
			}
		} else if err := t.takeNext(lock.Lockable.TryLock); err != nil {
			return err
		}
	}
	return nil
}

// tryTogether takes what can be had in one step. If that fails it returns up to which lock they are to be waited for,
// one after the other: that which somebody has is among them.
func (t *taking) tryTogether() (held int, err error) {
	bundle := t.bundleFromHere()
	if len(bundle) < 2 {
		return t.next + 1, nil
	}
	leases, err := bundle[0].Client().TryAll(t.lease.ctx, bundle...)
	switch {
	case err == nil:
		t.had(leases)
		return t.next, nil
	case t.noteApart(err):
		return t.next, nil
	case errors.Is(err, driver.ErrRefused) || errors.Is(err, lock.ErrInvalid) || t.lease.ctx.Err() != nil:
		return 0, err
	}
	who, ok := errors.AsType[*lock.HeldError](err)
	for i, l := range bundle {
		if ok && l.Name() == who.Name {
			return t.next + i + 1, nil
		}
	}
	return t.next + 1, nil // a backend that fails is asked for longer where one lock is waited for
}

// noteApart reports whether an error says that the locks are not to be had in one step, which a store may know only
// when it is asked for them: that of a server is not known here. They are then taken one after the other.
func (t *taking) noteApart(err error) bool {
	t.apart = t.apart || errors.Is(err, lock.ErrUnsupported)
	return t.apart
}

// bundleFromHere returns the locks from the next one on that can be had in one step.
func (t *taking) bundleFromHere() []*lock.Mutex {
	var bundle []*lock.Mutex
	if t.apart {
		return nil
	}
	for _, l := range t.locks[t.next:min(t.next+driver.MaxBundle, len(t.locks))] {
		m, ok := l.(*lock.Mutex)
		if !ok || !m.Client().Together(append(bundle, m)...) {
			break
		}
		bundle = append(bundle, m)
	}
	return bundle
}

// takeNext takes the next lock alone.
func (t *taking) takeNext(take func(lock.Lockable, context.Context) (*lock.Lease, error)) error {
	l, err := take(t.locks[t.next], t.lease.ctx)
	if err == nil {
		t.had([]*lock.Lease{l})
	}
	return err
}

// had adds leases, each of which was made in the context of the one before.
func (t *taking) had(leases []*lock.Lease) {
	t.next += len(leases)
	t.lease.leases = append(t.lease.leases, leases...)
	t.lease.ctx = leases[len(leases)-1].Context()
}

// waitsFor names the lock that is not had.
func (t *taking) waitsFor() string { return t.locks[min(t.next, len(t.locks)-1)].Name() }

// whoHas says who had the lock that is not had, as far as the end of the wait for it tells.
func (t *taking) whoHas(ended error) *lock.HeldError {
	var held *lock.HeldError
	if told, ok := errors.AsType[*outcome.ToldError](ended); ok && errors.As(told.Reason, &held) {
		return held
	}
	return &lock.HeldError{Name: t.waitsFor()}
}

// errWaited is the cause with which [Options.Wait] ends a wait.
var errWaited = errors.New("the longest wait has passed")

// waitedError says that the longest wait has passed. It matches [lock.ErrHeld], and not the end of the context by which
// that was done.
type waitedError struct {
	held *lock.HeldError
	why  error
}

// Error implements error.
func (e *waitedError) Error() string {
	if e.why != nil && e.held.Owner == "" { // it says more, such as that the backend was away
		return e.why.Error()
	}
	text := e.held.Error() + ": " + errWaited.Error()
	if lock.MaybeApplied(e) {
		text += " (it may have taken effect)"
	}
	return text
}

// Is reports whether the error matches target.
func (e *waitedError) Is(target error) bool { return e.held.Is(target) }

// As finds what the error is.
func (e *waitedError) As(target any) bool {
	return errors.As(e.held, target) || e.why != nil && errors.As(e.why, target)
}
