package zklock

import (
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// describe names the operation and puts an error into the words of package driver.
func describe(operation, name string, err error) error {
	if err == nil {
		return nil
	}
	if class := classOf(err); class != nil {
		err = fmt.Errorf("%w: %w", class, err)
	}
	return fmt.Errorf("zklock: %s %q: %w", operation, name, err)
}

// classOf returns the class to add to an error of the client library, nil if it has one or has none: a connection
// that breaks leaves open what has happened.
func classOf(err error) error {
	for _, refusal := range []error{
		zk.ErrNoAuth, zk.ErrAuthFailed, zk.ErrInvalidACL, zk.ErrNoChildrenForEphemerals, zk.ErrInvalidPath,
		zk.ErrBadArguments,
	} {
		if errors.Is(err, refusal) {
			return driver.ErrRefused
		}
	}
	// What was never sent has not happened, nor has what was asked in a session that is over: its nodes are gone.
	if errors.Is(err, zk.ErrNoServer) || errors.Is(err, zk.ErrSessionExpired) {
		return driver.ErrUnavailable
	}
	return nil
}

// afterwardsError is why an attempt has failed that has made a node, or may have: it is in no class, whatever it would
// say of a request that has left nothing.
type afterwardsError struct{ why error }

// Error implements error.
func (e *afterwardsError) Error() string { return e.why.Error() }

// notSent says that nothing happened because the context was over already.
func notSent(err error) error { return fmt.Errorf("zklock: %w: %w", driver.ErrUnavailable, err) }
