package redislock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
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

// evalAcked runs the acquisition and waits until enough replicas have it. A grant that does not count is
// released.
func (b *backend) evalAcked(
	ctx context.Context, call redisconn.Call, release func(context.Context) error,
) (redisconn.Reply, error) {
	need, err := b.acksNeeded(ctx, call.Keys[0])
	if err != nil {
		return redisconn.Reply{}, err
	}
	reply, got, err := b.conn.EvalWait(ctx, call, need, b.opts.AckTimeout)
	switch _, answered := errors.AsType[*redisconn.ReplyError](err); {
	case err == nil && got >= need, wasRefused(reply): // a refusal stands, whatever became of WAIT
		return reply, nil
	case err == nil, answered && wasGranted(reply):
		return redisconn.Reply{}, takeBack(ctx, release, &AckError{Need: need, Got: got, Cause: err})
	default:
		return redisconn.Reply{}, err
	}
}

// wasRefused reports whether the acquisition was answered with a refusal.
func wasRefused(reply redisconn.Reply) bool { return reply.Len() > 0 && !wasGranted(reply) }

// wasGranted reports whether it was answered with a token, of which none is 0.
func wasGranted(reply redisconn.Reply) bool {
	return reply.Int > 0 || reply.Len() > 0 && reply.At(0).Int == 1
}

// takeBack releases a grant that does not count.
func takeBack(ctx context.Context, release func(context.Context) error, cause *AckError) error {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeBackTime)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(takeBackGrace, cancel) })()
	if err := release(bounded); err != nil {
		return &leftError{cause, err}
	}
	return cause
}
