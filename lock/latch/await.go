package latch

import (
	"context"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/attempt"
	"github.com/bedrock-go/bedrock/lock/internal/listen"
)

const (
	firstPoll   = 10 * time.Millisecond // without a watch: the first pause
	longestPoll = time.Second           // and the longest
	lookAnyway  = 5 * time.Second       // with a watch, for it may listen where nobody tells any more
)

// NotOpenError is the end of a wait for a latch that was not open when the backend was asked last. It matches what has
// ended the wait. Where the backend has not answered when it was asked last, the error of Await is none.
type NotOpenError struct {
	// Left is what was left of the count.
	Left   int
	waited time.Duration
	ended  error
}

// Error implements error.
func (e *NotOpenError) Error() string {
	return fmt.Sprintf("waited %s, %d left: %v", e.waited.Round(time.Microsecond), e.Left, e.ended)
}

// Unwrap returns what has ended the wait.
func (e *NotOpenError) Unwrap() error { return e.ended }

// Await waits until the latch is open: its count is zero, or it was dropped, or never set. It is woken when the store
// tells, and looks every 5 s besides; where the store does not tell it looks after growing pauses of 1 s at most.
//
// A latch that is set again at the moment at which it opens may be taken for the one before, and waited for, too.
//
// When the wait ends before, the error is a [*NotOpenError] if the backend has answered when it was asked last.
func (l *Latch) Await(ctx context.Context) error {
	backend, err := l.usable(ctx, nil)
	if err != nil {
		return err
	}
	began := time.Now()
	left, err := l.countLeft(ctx, backend, "await")
	if err != nil || left == 0 {
		return err
	}
	ear := listen.Start(l.locks, l.name, driver.Latch)
	defer ear.Close()
	for poll := firstPoll; ; poll = min(2*poll, longestPoll) {
		pause := poll
		if ear.Hears() {
			pause = lookAnyway
		}
		if ended := attempt.Pause(ctx, l.locks, l.spreadPause(pause), ear.C()); ended != nil {
			return l.opError("await", &NotOpenError{Left: left, waited: time.Since(began), ended: ended})
		}
		if left, err = l.countLeft(ctx, backend, "await"); err != nil || left == 0 {
			return err
		}
	}
}
