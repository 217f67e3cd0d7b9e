package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/lock"
)

// A command that has run for --max-hold is ended with the lock in hand, which is given back when it has ended: were it
// taken away first, somebody else would have it beside a command that takes its time. The library takes it away only
// from a program that does not do so.

// maxHoldUsage is that of --max-hold, of all commands that run one.
const maxHoldUsage = "end the command then, and let others have the lock when it has ended (default never)"

// errOverdue ends a command that has run for as long as it may.
var errOverdue = errors.New("it was held for --max-hold")

// holdSlack is how long the end of a killed command may take, and giving the lock back.
const holdSlack = 2*time.Second + closeLimit

// longestHold is for how long the library leaves the lock to a program that ends its command after maxHold, and kills
// it when the grace is over. It is 0, for ever, without a limit or beyond those that the library has.
func longestHold(maxHold, grace time.Duration) time.Duration {
	const most = 1000 * time.Hour
	if maxHold == 0 || maxHold > most || grace > most-maxHold-holdSlack {
		return 0
	}
	return maxHold + grace + holdSlack
}

// checkMaxHold has the library say what is wrong with what was typed, in place of what is made of it. It does so
// before it looks whether the context has ended, and this one has: nobody is asked for a lock.
func checkMaxHold(session *lockurl.Session, name string, maxHold, minHold time.Duration) error {
	ended, end := context.WithCancel(context.Background())
	end()
	_, err := session.Mutex(name, &lock.MutexOptions{MaxHold: maxHold, MinHold: minHold}).TryLock(ended)
	if errors.Is(err, lock.ErrInvalid) {
		return err
	}
	return nil
}

// untilOverdue returns a context that ends with the lease's, or when the command has run for as long as it may.
func (r *runner) untilOverdue(lease *lock.Lease) (context.Context, context.CancelFunc) {
	if r.maxHold == 0 {
		return context.WithCancel(lease.Context())
	}
	return context.WithTimeoutCause(lease.Context(), r.maxHold, errOverdue)
}

// overdueError says that a command was ended which has run for as long as it may.
func (r *runner) overdueError(lease *lock.Lease, unlockErr error) error {
	return &exitError{exitLost, fmt.Errorf("%s: %w, %s; the command was ended",
		howItEnded(lease.Name(), unlockErr), errOverdue, r.maxHold)}
}
