package client

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/internal/timelimit"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// Who stands in the line of a fair lock is told of its turn by the answer to its request, which the server keeps back:
// it waits there, and asks again as soon as that is over.

const (
	// longestInLine is how long a server is asked to wait at most: the place is kept for longer, and what is granted at
	// the end of it lives from its beginning.
	longestInLine = 2 * time.Second
	// shortestInLine is what is worth a request.
	shortestInLine = 10 * time.Millisecond
	// lastAnswer is what must be left of the caller's time for another request: it would be broken off, and in doubt.
	lastAnswer = 100 * time.Millisecond
	// visibly is how long an answer must have been kept back at least to show that the server waits.
	visibly = 100 * time.Millisecond
)

// waitInLine returns how long the server is to wait for a request, 0 if not at all: a third of the time that the
// answer has, and a fourth of what the lease has.
func waitInLine(ctx context.Context, req *driver.Request) time.Duration {
	if !req.Fair || !req.Waits {
		return 0
	}
	wait := min(longestInLine, req.TTL/4)
	if end, ok := timelimit.Deadline(ctx); ok {
		wait = min(wait, time.Until(end)/3)
	}
	if wait < shortestInLine {
		return 0
	}
	return wait
}

// askAgainAtOnce has who stands in line ask again at once, after a server that has waited: one that has not would be
// asked in a loop.
func askAgainAtOnce(ctx context.Context, err error, took, wait time.Duration) error {
	held, ok := errors.AsType[*driver.HeldError](err)
	if !ok || wait == 0 || held.Place == 0 || took < min(wait/2, visibly) {
		return err
	}
	if end, limited := ctx.Deadline(); limited && time.Until(end) < lastAnswer {
		return err
	}
	held.Again, held.Listen, held.Claim = time.Nanosecond, false, 0
	return held
}
