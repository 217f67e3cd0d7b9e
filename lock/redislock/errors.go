package redislock

import (
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// describe names the operation and puts an error into the words of package driver.
func describe(operation, name string, err error) error {
	if class := classOf(err); class != nil {
		err = fmt.Errorf("%w: %w", class, err)
	}
	return fmt.Errorf("redislock: %s %q: %w", operation, name, err)
}

// classOf returns the class to add to err, nil if it has one or has none. Every script
// of this package changes nothing before it can fail.
func classOf(err error) error {
	if errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrUnavailable) {
		return nil
	}
	switch redisconn.AftermathOf(err) {
	case redisconn.Unavailable:
		return driver.ErrUnavailable
	case redisconn.Refused, redisconn.Failed:
		return driver.ErrRefused
	default:
		return nil
	}
}

// notSent says that nothing happened because the context was over already.
func notSent(err error) error {
	return fmt.Errorf("redislock: %w: %w", driver.ErrUnavailable, err)
}
