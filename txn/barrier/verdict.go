package barrier

import (
	"errors"
	"fmt"
)

// Verdict is what the barrier made of a call.
type Verdict uint8

const (
	// Undecided goes with an error that leaves open what has happened. The
	// coordinator will call again.
	Undecided Verdict = iota
	// Ran means that the call was new, and its work is done.
	Ran
	// Duplicate means that an earlier call has done the work. This is its result.
	Duplicate
	// Refused means that the business said no, now or to an earlier delivery of this
	// call. Nothing is left of its work.
	Refused
	// EmptyCompensation means that there is nothing to take back: the call that goes
	// forward has never been here, or was refused. Should it come yet, it is Hanging.
	EmptyCompensation
	// Hanging means that a call that goes forward came after it was taken back, be it for
	// the first time or again. It was not let in, and has done nothing.
	Hanging
)

// String names the verdict for logs.
func (v Verdict) String() string {
	switch v {
	case Undecided:
		return "undecided"
	case Ran:
		return "ran"
	case Duplicate:
		return "duplicate"
	case Refused:
		return "refused"
	case EmptyCompensation:
		return "empty compensation"
	case Hanging:
		return "hanging"
	default:
		return fmt.Sprintf("verdict %d", v)
	}
}

var (
	// ErrHanging is in the refusal of a call that came too late.
	ErrHanging = errors.New("came after it was taken back; nothing was done")
	// ErrRolledBack tells a producer that the coordinator has asked after the message
	// already, and was told that there was no commit. There must be none now.
	ErrRolledBack = errors.New("message was rolled back before its producer committed")
	// ErrPrepared tells a producer that it has committed an earlier local transaction
	// with this message.
	ErrPrepared = errors.New("message was committed with an earlier local transaction")
)
