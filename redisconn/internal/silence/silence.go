// Package silence tells calls that got no answer: the connection that they went over may
// have died without a word, and others of the same pool with it.
package silence

import (
	"errors"
	"net"
	"time"

	"github.com/bedrock-go/bedrock/redisconn"
)

// enough is how long a call must have waited in vain to tell of its connection.
const enough = 250 * time.Millisecond

// Met reports whether a call that has begun then and ended so got no answer.
func Met(began time.Time, err error) bool {
	if err == nil || time.Since(began) < enough {
		return false
	}
	if _, left := errors.AsType[*redisconn.UnderwayError](err); left {
		return true
	}
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
