package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/internal/apiwire"
)

// A router can forget connections, all at once, and tell nobody. A call over one of them
// then waits for ever, while new ones work. So no call is given all of its time over the
// first connection: after a silence those that lie idle are closed, and the call is made
// again over a new one.

const (
	// silence is how long a call must have waited in vain to tell of its connection.
	silence = 250 * time.Millisecond
	// firstShare is the part of a call's time that its first try is given. A server that is
	// slow has all the rest.
	firstShare = 4
	// waitTime is how long a server is asked to wait for an outcome, and grace how much
	// later its answer may come.
	waitTime = 15 * time.Second
	grace    = 5 * time.Second
)

var (
	// errSilent ends a call that has got no answer until patience was over.
	errSilent = errors.New("the server has not answered")
	// errUnheard ends one try of a call.
	errUnheard = errors.New("no answer over this connection")
)

// tryOnce makes one try of a call, within limit.
func tryOnce[Req, Res any](
	ctx context.Context, c *Client, limit time.Duration, do func(context.Context, *Req) (*Res, error), req *Req,
) (*Res, error) {
	bounded, cancel := context.WithCancel(ctx) // with a deadline, the server would have to keep it, too
	defer cancel()
	defer time.AfterFunc(limit, cancel).Stop()
	res, err := callOnce(bounded, c, do, req)
	if err == nil || ctx.Err() != nil || !unheard(bounded, err) {
		return res, err
	}
	return nil, fmt.Errorf("%w in %v", errUnheard, limit)
}

// callOnce makes a call that a server answers before its context ends. After a silence it
// closes the connections that lie idle; those in use become idle only with an answer.
func callOnce[Req, Res any](
	ctx context.Context, c *Client, do func(context.Context, *Req) (*Res, error), req *Req,
) (*Res, error) {
	began := time.Now()
	res, err := do(ctx, req)
	if err != nil && unheard(ctx, err) {
		c.suspect(began)
	}
	return res, err
}

// unheard reports whether a try has ended because its time was over, without a word from
// the service.
func unheard(bounded context.Context, err error) bool {
	if bounded.Err() == nil || unsent(err) {
		return false
	}
	transaction, _ := apiwire.TransactionErrorOf(err)
	lock, _ := apiwire.LockErrorOf(err)
	return !transaction && !lock
}

// suspect closes the connections that lie idle, if a call that began at that time has
// waited long enough without an answer: what has broken one connection may have broken them
// all.
func (c *Client) suspect(began time.Time) {
	if time.Since(began) >= silence {
		c.links.dropIdle()
	}
}

// twice makes a call that a server answers at once and that may be repeated.
func twice[Req, Res any](
	ctx context.Context, c *Client, do func(context.Context, *Req) (*Res, error), req *Req,
) (*Res, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	res, err := tryOnce(ctx, c, callTime/firstShare, do, req)
	if errors.Is(err, errUnheard) {
		return tryOnce(ctx, c, callTime, do, req)
	}
	return res, err
}

// withinPatience bounds a call that a server answers at once by the client's patience.
func withinPatience[Req, Res any](
	c *Client, do func(context.Context, *Req) (*Res, error),
) func(context.Context, *Req) (*Res, error) {
	if c.patience <= 0 {
		return func(ctx context.Context, req *Req) (*Res, error) { return callOnce(ctx, c, do, req) }
	}
	end, limit := time.Now().Add(c.patience), c.patience/firstShare
	return func(ctx context.Context, req *Req) (*Res, error) {
		res, err := tryOnce(ctx, c, max(limit, leastAttempt), do, req)
		limit = time.Until(end)
		if errors.Is(err, errUnheard) && limit <= 0 {
			err = fmt.Errorf("%w in %v", errSilent, c.patience)
		}
		return res, err
	}
}

// withinRound bounds one round of a call that a server answers when there is an outcome, or
// after waitTime.
func withinRound[Req, Res any](
	c *Client, do func(context.Context, *Req) (*Res, error),
) func(context.Context, *Req) (*Res, error) {
	if c.patience <= 0 {
		return do
	}
	return func(ctx context.Context, req *Req) (*Res, error) { return tryOnce(ctx, c, waitTime+grace, do, req) }
}
