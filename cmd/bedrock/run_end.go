package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/internal/lockurl"
	"github.com/bedrock-go/bedrock/lock"
)

// noteUnclear remembers that nobody knows whether the lock was given back: that is tried until this program ends, and
// told only then.
func (r *runner) noteUnclear(name string, err error) {
	r.unclear = nil
	if lock.MaybeApplied(err) {
		r.unclear = fmt.Errorf("lock %q may not have been given back: %w", name, errors.Unwrap(err))
	}
}

// endWithin closes the session, and tells what becomes of a lock that could not be given back: nothing goes on when
// this program has ended.
func (r *runner) endWithin(session *lockurl.Session, limit time.Duration) {
	if err := closeWithin(session, limit); err != nil && r.unclear != nil {
		fmt.Fprintf(r.sys.stderr, "bedrock: warning: %v; if so it runs out by itself when its --ttl is over\n",
			r.unclear)
	}
}
