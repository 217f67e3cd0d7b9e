package redisstore

import (
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/redisconn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// describe names the operation and puts an error into the words of package driver.
func describe(operation, object string, err error) error {
	if nothingWritten(err) && !errors.Is(err, driver.ErrUnavailable) {
		err = fmt.Errorf("%w: %w", driver.ErrUnavailable, err)
	}
	return fmt.Errorf("redisstore: %s %q: %w", operation, object, err)
}

// nothingWritten reports whether an error leaves nothing behind for certain. A script
// that has failed may have written something before.
func nothingWritten(err error) bool {
	after := redisconn.AftermathOf(err)
	return after == redisconn.Refused || after == redisconn.Unavailable
}
