package driver

import (
	"context"
	"fmt"
)

// MaxCount is the highest count of a latch.
const MaxCount = 1 << 30

// Latches is implemented by stores that keep latches: counts that many wait for to come down to zero. A latch is
// there while its count is above zero, and has no time to live. Its name is of the kind [Latch], and shared with no
// lock. Whoever can be told of a latch that opens is told by [Waiter.Watch] of that kind: it signals, too, when a
// latch is set or dropped.
//
// The ID of a call is unique, at most [MaxOwner] bytes: a call that is repeated under it within a minute changes
// nothing, and has the answer of the first.
type Latches interface {
	// SetLatch gives a latch its count, 1 to [MaxCount], if it has none. It reports whether it had none.
	SetLatch(ctx context.Context, name, id string, count int) (set bool, err error)
	// CountDown takes so much from the count, and returns what is left of it: at zero the latch is open, and gone.
	// Where less is left nothing is taken; the error is a [*CountError].
	CountDown(ctx context.Context, name, id string, by int) (left int, err error)
	// LatchCount returns what is left of the count, 0 if there is no latch of that name.
	LatchCount(ctx context.Context, name string) (int, error)
	// DropLatch opens the latch, whatever is left. It reports whether there was one.
	DropLatch(ctx context.Context, name string) (bool, error)
}

// CheckCount says by an [*input.Error] why a latch cannot be set to a count, or counted down by that.
func CheckCount(field string, count int) error {
	if count < 1 || count > MaxCount {
		return outOfRange(field, count, 1, MaxCount)
	}
	return nil
}

// ErrBelowZero says that a latch would be counted down below zero. The error is a [*CountError].
var ErrBelowZero = fmt.Errorf("below zero%.0w", ErrRefused)

// CountError is the refusal to count a latch down by more than is left. It matches [ErrBelowZero], and [ErrRefused].
type CountError struct{ Left, By int }

// Error implements error.
func (e *CountError) Error() string {
	if e.Left == 0 {
		return "nothing is left to count down"
	}
	return fmt.Sprintf("cannot count down by %d, %d are left", e.By, e.Left)
}

// Is reports whether target is [ErrBelowZero] or [ErrRefused].
func (e *CountError) Is(target error) bool { return target == ErrBelowZero || target == ErrRefused }
