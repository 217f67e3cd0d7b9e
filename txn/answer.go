package txn

import "time"

// Answer is how a call of a participant ended.
type Answer struct {
	Kind   AnswerKind
	Result []byte
	Note   string
	// After is when to ask again, for AnswerPending and AnswerHeld.
	After time.Duration
	// Down says that the target as a whole seems to be down: it cannot be reached, or
	// does not answer in time. Enough of them open its breaker.
	Down bool
	// Lacking says, of what is held, that this coordinator has nobody who can make the
	// call; others may have.
	Lacking bool
	// Unasked says, of what is refused, that the participant was not asked: what earlier
	// calls may have done is still there.
	Unasked bool
	// BrokenOff says, of what is pending, that the coordinator itself has ended the call: it
	// is as if it had not been made, but for what it may have done.
	BrokenOff bool
	// Lasting says that asking again will not change the answer, as with a participant
	// that does not exist, or takes the call for malformed.
	Lasting bool
}

// AnswerKind is what a participant answered, or why it did not.
type AnswerKind string

const (
	// AnswerDone says that it has been done.
	AnswerDone AnswerKind = "done"
	// AnswerRefused says that it was not done and will not be.
	AnswerRefused AnswerKind = "refused"
	// AnswerPending says that the participant is still working.
	AnswerPending AnswerKind = "pending"
	// AnswerFailed says that nobody knows whether it was done.
	AnswerFailed AnswerKind = "failed"
	// AnswerUnreached says that it failed, and the participant has certainly not been asked.
	AnswerUnreached AnswerKind = "unreached"
	// AnswerHeld says that nobody was asked: the target is known to be down, only another
	// coordinator has the function, or a decision came before. It counts as no attempt.
	AnswerHeld AnswerKind = "held"
)

// AnswerKinds lists them all.
func AnswerKinds() []AnswerKind {
	return []AnswerKind{AnswerDone, AnswerRefused, AnswerPending, AnswerFailed, AnswerUnreached, AnswerHeld}
}
