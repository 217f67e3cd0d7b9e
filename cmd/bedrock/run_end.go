package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// noteRelease tells that the lock was not given back. What nobody knows is remembered: that is tried until this program
// ends, and told only then.
func (r *runner) noteRelease(name string, err error) {
	r.unclear = nil
	switch {
	case lock.MaybeApplied(err):
		r.unclear = fmt.Errorf("lock %q may not have been given back: %w", name, errors.Unwrap(err))
	case err != nil && !errors.Is(err, lock.ErrLost): // a lost lock is told of in the end
		fmt.Fprintf(r.sys.stderr, "bedrock: warning: lock %q was not given back: %v; "+
			"it runs out by itself when its --ttl is over\n", name, errors.Unwrap(err))
	}
}

// howItEnded begins the reason for which a command was ended. That a lock could not be given back is told beside it.
func howItEnded(name string, unlockErr error) string {
	if unlockErr != nil {
		return fmt.Sprintf("lock %q", name)
	}
	return fmt.Sprintf("lock %q was given back", name)
}

// endWithin closes the session, and tells what becomes of a lock that could not be given back: nothing goes on when
// this program has ended.
func (r *runner) endWithin(session *lockurl.Session, limit time.Duration) {
	err := closeWithin(session, limit)
	switch {
	case err != nil && r.unclear != nil:
		fmt.Fprintf(r.sys.stderr, "bedrock: warning: %v; if so it runs out by itself when its --ttl is over\n",
			r.unclear)
	case errors.Is(err, driver.ErrRefused): // the lock came when nobody waited for it any more
		fmt.Fprintln(r.sys.stderr, "bedrock: warning:", err)
	}
}
