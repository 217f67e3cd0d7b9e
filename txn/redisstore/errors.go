package redisstore

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// describe names the operation and puts an error into the driver's class.
func describe(operation, object string, err error) error {
	if class := classOf(err); class != nil {
		return fmt.Errorf("redisstore: %s %q: %w: %w", operation, object, class, err)
	}
	return fmt.Errorf("redisstore: %s %q: %w", operation, object, err)
}

// classOf returns the class to add to err, nil if it has one or nobody knows
// what has happened.
func classOf(err error) error {
	var answer redis.Error
	var op *net.OpError
	switch {
	case errors.Is(err, driver.ErrUnavailable), errors.Is(err, driver.ErrClosed):
		return nil
	case errors.Is(err, redis.ErrClosed), errors.Is(err, redis.ErrPoolTimeout), errors.Is(err, redis.ErrPoolExhausted):
		return driver.ErrUnavailable
	case errors.As(err, &answer) && refusedAtOnce(answer.Error()):
		return driver.ErrUnavailable
	case errors.As(err, &op) && op.Op == "dial":
		return driver.ErrUnavailable
	default:
		return nil
	}
}

// refusedAtOnce tells whether a server answers so before a script has changed
// anything.
func refusedAtOnce(answer string) bool {
	// Redis before 7 packs the errors of scripts into another.
	if _, inner, packed := strings.Cut(answer, ": -"); packed {
		answer = inner
	}
	code, _, _ := strings.Cut(strings.TrimPrefix(answer, "-"), " ")
	switch code {
	case "OOM", "READONLY", "LOADING", "CLUSTERDOWN", "TRYAGAIN", "MASTERDOWN", "NOREPLICAS", "MISCONF", "BUSY",
		"MOVED", "ASK", "NOSCRIPT", "NOAUTH", "WRONGPASS", "NOPERM":
		return true
	default:
		return strings.Contains(answer, "max number of clients reached")
	}
}
