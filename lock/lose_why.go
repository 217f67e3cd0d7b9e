package lock

import (
	"fmt"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/internal/outcome"
)

// errExpired is the cause of a loss found out by the clock.
var errExpired = fmt.Errorf("%w: not renewed in time", ErrLost)

// errTimeOver is that of a lease that is not renewed.
var errTimeOver = fmt.Errorf("%w: its time is over%.0w", ErrLost, errExpired)

// errTaken is the cause of a loss that the backend tells of.
var errTaken = fmt.Errorf("%w: the backend does not have the lease any more", ErrLost)

// errTold is that of one which the backend tells of unasked.
var errTold = fmt.Errorf("%w", ErrLost)

// errForced says that whoever has taken the lock away has told of it.
var errForced = fmt.Errorf("%w: it was taken away by force", errTold)

// loss is one of these causes, with what the backend says of it.
type loss struct{ cause, why error }

// lossBy adds to a cause what the backend says of it, if it does. That was said of another operation than the one
// whose end the loss may be: it leaves no doubt about that one, and is not the end of its context.
func lossBy(cause, why error) error {
	if why == nil {
		return cause
	}
	return &loss{cause, outcome.OfAnother(why)}
}

// Error implements error.
func (e *loss) Error() string { return e.cause.Error() + ": " + outcome.InOneLine(e.why).Error() }

func (e *loss) Unwrap() []error { return []error{e.cause, e.why} }

// whyTold says why the backend tells that a grant is gone.
func whyTold(m driver.Message) error {
	if m.Why == nil {
		return errForced
	}
	return lossBy(errTold, m.Why)
}

// whyExpired says why the time of a hold is over.
func (h *hold) whyExpired() error {
	switch {
	case h.isOverdue():
		return errOverdue
	case h.want.fixed:
		return errTimeOver
	default:
		return lossBy(errExpired, h.q.client.renewer.troubleOf(h))
	}
}

// troubleOf returns what keeps a hold from being renewed, as far as that is known: what the last renewal was told, or
// for how long none had an answer.
func (r *renewer) troubleOf(h *hold) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	waited := r.client.now() - h.asked
	if h.asked == 0 || h.trouble != nil && waited < slowCall { // the answer of another one is about to come
		return h.trouble
	}
	return &silence{waited: waited, last: h.trouble}
}
