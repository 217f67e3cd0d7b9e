package driver

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/bedrock-go/bedrock/internal/underway"
)

// The classes of errors a backend returns; see the package comment.
var (
	// ErrHeld says that somebody else has the lock.
	ErrHeld = errors.New("held")
	// ErrLost says that the store does not have the grant (any more).
	ErrLost = errors.New("not held by this owner")
	// ErrRefused says that nothing happened and asking again will not help.
	ErrRefused = errors.New("refused")
	// ErrUnavailable says that nothing happened and asking again may help.
	ErrUnavailable = errors.New("unavailable")
	// ErrYoung says that the store would grant a request, but was started less than [Request.Age] ago. It matches
	// [ErrUnavailable], too.
	ErrYoung = fmt.Errorf("started a short while ago, and may have forgotten who has what%.0w", ErrUnavailable)
	// ErrUnsupported says that the backend lacks a capability. It is a refusal, too:
	// it matches [ErrRefused].
	ErrUnsupported = fmt.Errorf("unsupported%.0w", ErrRefused)
	// ErrBelow says that the grant which a request goes over is not there (any more): see
	// [Request.Over]. It is a refusal, too.
	ErrBelow = fmt.Errorf("what it is to go over is not there%.0w", ErrRefused)
	// ErrSpent stands beside the class of an error of Acquire. It says that a release
	// of the request's owner may have been sent, by the backend itself or by somebody
	// on the way: nobody may ask under this owner again.
	ErrSpent = errors.New("a release of this owner may be on its way")
)

// UnderwayError is the error of a call that its caller has left behind, and that
// goes on in this process. Its outcome is unknown, whatever Err is. Err is why the
// caller has left; Ended is closed when nothing of the call is under way in this process
// any more. That must not take for ever, so a call needs a time limit of its own.
type UnderwayError = underway.Error

// HeldError is a refusal that says more. It matches [ErrHeld].
type HeldError struct {
	// Name is the lock's, where several were asked for in one step: see [Bundler]. Else it is empty.
	Name string
	// Owner is the present holder's owner id, or its [PublicOwner]; empty when unknown.
	Owner string
	// TTL is how long the holder's grant lives unless renewed, or [UnknownTTL]. What is
	// 0 or less has run out by now: whoever waits asks again at once, for nobody tells
	// of a grant that runs out.
	TTL time.Duration
	// Claim is for how long the request stands in the store's line instead, and how long what it is
	// granted lives at first; both from when the store has come to it. It is 0 if it does not
	// stand: see [Successor].
	Claim time.Duration
	// Token is the first of those reserved for it, 0 if that is not known. A grant with another one was
	// that of a time before, and is over. Of a request that is Fair it is the newest given out: what is granted
	// from then on has a higher one.
	Token uint64
	// Rising says that Token is the newest given out, as of a request that is Fair, since the store does not know
	// yet which the request will be granted.
	Rising bool
	// Again is when to ask again at the latest, so that the request keeps what it has by waiting: see
	// [Request.Waits]. It is 0 if it has nothing; else who gives up releases the owner, which ends that.
	Again time.Duration
	// Waits says that Owner does not have the lock, but waits for it, and goes first.
	Waits bool
	// Place is where the request stands in the line of those who wait, 1 if it is next; 0 if it does not.
	Place int
	// Listen says that the turn of a request that is Fair may be told on no other way than that of
	// [TurnWaiter].
	Listen bool
}

// MayBeNext reports whether it may be the turn of the one who stands in line when TTL has passed.
func (e *HeldError) MayBeNext() bool { return e.Place == 1 || e.Place == 2 && e.Waits }

// PauseFor returns how long to wait before asking again, so that it is in time: by [HeldError.Again]. What is so
// short that nothing can be kept by it, such as a turn of others, is waited for as a whole.
func PauseFor(again time.Duration) time.Duration {
	return max(again*2/5, min(again, 100*time.Millisecond)) + time.Millisecond
}

// PauseInLine returns how long who stands in line waits before it asks again, by [HeldError.Again].
func PauseInLine(again time.Duration) time.Duration { return again * 2 / 5 }

// TimeLeft returns how long the holder's grant goes on that a refusal tells of: 0 if it has
// run out, [UnknownTTL] if that is not known.
func TimeLeft(refusal error) time.Duration {
	held, ok := errors.AsType[*HeldError](refusal)
	if !ok || held.TTL == UnknownTTL {
		return UnknownTTL
	}
	return max(held.TTL, 0)
}

// UnknownTTL says that the store does not tell how long a holder's grant lives, or that
// it never ends. It is far from everything that a clock or a subtraction yields: a backend
// must say it on purpose.
const UnknownTTL time.Duration = math.MinInt64

// Error implements error.
func (e *HeldError) Error() string {
	switch {
	case e.Waits && e.Owner == "":
		return "kept for who waits"
	case e.Waits:
		return "kept for " + ownerWord(e.Owner) + ", who waits"
	case e.Owner == "":
		return "held"
	}
	return "held by " + ownerWord(e.Owner)
}

// Is reports whether target is [ErrHeld].
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// Spent returns err, which then matches [ErrSpent] besides all that it matches
// already.
func Spent(err error) error { return &spentError{err} }

type spentError struct{ err error }

func (e *spentError) Error() string        { return e.err.Error() }
func (e *spentError) Unwrap() error        { return e.err }
func (e *spentError) Is(target error) bool { return target == ErrSpent }
