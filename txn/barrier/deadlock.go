package barrier

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"
)

// deadlocked tells whether a database gave up a transaction so that others can go
// on. Drivers are recognised by what they say, as none may be imported here.
func deadlocked(err error) bool {
	if err == nil {
		return false
	}
	if state, ok := errors.AsType[interface {
		error
		SQLState() string
	}](err); ok {
		return state.SQLState() == "40001" || state.SQLState() == "40P01"
	}
	return strings.Contains(err.Error(), "Error 1213") // MySQL's driver
}

// pause lets the others go first after a deadlock, so that they do not meet again.
func pause(ctx context.Context, try int) error {
	timer := time.NewTimer(rand.N(time.Duration(try) * 5 * time.Millisecond))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
