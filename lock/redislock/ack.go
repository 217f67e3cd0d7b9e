package redislock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// AckError says that too few replicas had a grant in time, and that it was
// taken back. It is unavailable in the words of package driver: nothing is left
// behind, asking again may help; but under another owner, for a late copy of the
// release could end the next grant.
type AckError struct {
	// Need is how many replicas had to have it, Got how many did.
	Need, Got int
	// Cause is what the server answered instead of waiting for them; nil if it waited.
	// It decides then whether asking again may help.
	Cause error
}

// Error implements error.
func (e *AckError) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("no replica was waited for: %s", e.Cause)
	}
	return fmt.Sprintf("%d of %d replicas acknowledged", e.Got, e.Need)
}

// Is reports whether target is [driver.ErrUnavailable] or [driver.ErrSpent].
func (e *AckError) Is(target error) bool {
	return target == driver.ErrUnavailable && e.Cause == nil || target == driver.ErrSpent
}

// Unwrap returns Cause.
func (e *AckError) Unwrap() error { return e.Cause }

// leftError says that a grant which does not count could not be taken back for
// certain. It is of no class: the grant may be there. What the release was answered
// must not be taken for what the acquisition has left behind, so it is told only.
type leftError struct {
	cause   *AckError
	release error
}

// Error implements error.
func (e *leftError) Error() string {
	return fmt.Sprintf("%s, and it could not be taken back: %s", e.cause, e.release)
}

// Is reports whether target is [driver.ErrSpent].
func (e *leftError) Is(target error) bool { return target == driver.ErrSpent }

const (
	// takeBackTime bounds the release of a grant that too few replicas have.
	takeBackTime = 500 * time.Millisecond
	// takeBackGrace is how long it may go on when its caller has gone.
	takeBackGrace = 100 * time.Millisecond
)

// evalAcked runs the acquisition and waits until enough replicas have it.
func (b *backend) evalAcked(ctx context.Context, h *handle, args []string) (Reply, error) {
	need, err := b.acksNeeded(ctx, h.keys.name)
	if err != nil {
		return Reply{}, err
	}
	call := Call{Keys: h.call[:], Args: args}
	reply, got, err := b.conn.EvalWait(ctx, b.scripts.acquire, call, need, b.opts.AckTimeout)
	switch _, answered := errors.AsType[*ReplyError](err); {
	case err == nil && got >= need, refused(reply): // a refusal stands, whatever became of WAIT
		return reply, nil
	case err == nil, answered && granted(reply):
		return Reply{}, b.takeBack(ctx, h, &AckError{Need: need, Got: got, Cause: err})
	default:
		return Reply{}, err
	}
}

// refused tells whether the acquisition was answered with a refusal.
func refused(reply Reply) bool { return len(reply.Items) > 0 && reply.Items[0].Int == 0 }

// granted tells whether it was answered with a token, of which none is 0.
func granted(reply Reply) bool {
	return reply.Int > 0 || len(reply.Items) > 0 && reply.Items[0].Int == 1
}

// takeBack releases a grant that does not count.
func (b *backend) takeBack(ctx context.Context, h *handle, cause *AckError) error {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeBackTime)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(takeBackGrace, cancel) })()
	if _, err := b.evalRelease(bounded, h, b.pubsub.command(b)); err != nil {
		return &leftError{cause, err}
	}
	return cause
}
