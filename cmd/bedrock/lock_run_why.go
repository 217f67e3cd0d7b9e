package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// whyNot says in words a person can act on who has the lock that was not acquired in time.
// Where the backend does not tell, what it said before must do.
func whyNot(ctx context.Context, session *lockurl.Session, name string, err error) error {
	if !errors.Is(err, lock.ErrHeld) {
		return fromBackend(err)
	}
	ctx, cancel := context.WithTimeout(ctx, answerGrace)
	defer cancel()
	info, failure := session.Inspect(ctx, name)
	switch {
	case failure == nil:
		return whyNotGiven(info, err)
	case errors.Is(failure, driver.ErrRefused), errors.Is(failure, lock.ErrUnsupported):
		return withoutKey(err)
	}
	return &silentError{withoutKey(err)}
}

// silentError is why a lock was not had, of a backend that did not answer when it was asked who has it.
type silentError struct{ error }

func (e *silentError) Unwrap() error { return e.error }

// whyNotGiven is whyNot by the state of the lock.
func whyNotGiven(info lock.Info, err error) error {
	why := &lock.HeldError{Name: info.Name}
	view := lockView{info}
	if held, ok := errors.AsType[*lock.HeldError](err); ok {
		if view.isKeptFor(held) {
			return keptFor(held)
		}
		why.Place = held.Place
	}
	switch {
	case !info.Held() && len(info.Line) > 0:
		first := view.places()[0]
		why.Owner, why.Waits = first.owner(), true
		return fmt.Errorf("%w, %s", why, first.who())
	case !info.Held():
		why.Place = 0 // nor is there a line
		return fmt.Errorf("%w until a moment ago", why)
	case view.ours(): // a request that was broken off has been granted, and is being cleaned up
		return withoutKey(err)
	}
	holder := view.holders()[0]
	why.Owner = holder.owner()
	if !holder.tellsWho() {
		return fmt.Errorf("%w%s", why, view.howLong())
	}
	return fmt.Errorf("%w, %s", why, view.heldBy())
}

// withoutKey hides the owner that a refusal names: it is the key to the release.
func withoutKey(err error) error {
	if held, ok := errors.AsType[*lock.HeldError](err); ok && held.Owner != "" {
		return &keylessError{err, driver.HeldError{Owner: held.Owner, Waits: held.Waits}}
	}
	return err
}

// keylessError reads like its error, with what others may be told of an owner.
type keylessError struct {
	error

	key driver.HeldError // as the error words it
}

func (e *keylessError) Error() string {
	public := driver.HeldError{Owner: driver.AsPublicOwner(e.key.Owner), Waits: e.key.Waits}
	return strings.ReplaceAll(e.error.Error(), e.key.Error(), public.Error())
}

func (e *keylessError) Unwrap() error { return e.error }

// isKeptFor reports whether a refusal tells more than the lock's state: that a writer waits, before whom no reader
// comes any more, and who is not among the holders. Of a fair lock the state tells who waits, and more of them.
func (v *lockView) isKeptFor(refusal *lock.HeldError) bool {
	return refusal.Waits && refusal.Owner != "" && len(v.Line) == 0 &&
		!slices.Contains(v.publicOwners(), driver.AsPublicOwner(refusal.Owner))
}

// keptFor is a refusal in words for everybody: without the time that it names, which passes with every look of the one
// who waits, and the owner, who is the key to the release.
func keptFor(refusal *lock.HeldError) error {
	return &lock.HeldError{
		Name: refusal.Name, Owner: driver.AsPublicOwner(refusal.Owner), Waits: true, Place: refusal.Place,
	}
}

// toldReaders returns what those of this program are told who wait to read: the lock's state has nothing of a writer
// who waits. A try is refused for what keeps those who wait, and asks nobody. Their wait may end at that moment: then
// it reads beside them, and is over at once.
func (f *runFlags) toldReaders(session *lockurl.Session, name string) func(context.Context) error {
	if !f.shared {
		return nil
	}
	reader := session.RWMutex(name, nil).Reader()
	return func(ctx context.Context) error {
		lease, err := reader.TryLock(ctx)
		if err == nil {
			err = lease.Unlock(ctx)
		}
		return err
	}
}

// writerBefore is who goes first, of those who do not have the lock, to somebody who waits for it; nil if that is not
// known. The name of the lock is the reader's.
func (v *lockView) writerBefore(ctx context.Context, told func(context.Context) error) error {
	if told == nil {
		return nil
	}
	refusal, ok := errors.AsType[*lock.HeldError](told(ctx))
	if !ok || !v.isKeptFor(refusal) {
		return nil
	}
	return &driver.HeldError{Owner: driver.AsPublicOwner(refusal.Owner), Waits: true}
}
