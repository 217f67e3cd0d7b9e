package combination

import (
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// ErrTooFewNodes says that too few nodes answer for anybody to begin to take a lock. The error is an [*Error], and
// matches [driver.ErrUnavailable], too.
var ErrTooFewNodes = errors.New("too few nodes")

// Error says how many nodes are there.
type Error struct{ Present, Min, Nodes int }

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("too few nodes: %d of %d answer, %d are needed", e.Present, e.Nodes, e.Min)
}

// Is reports whether target is [ErrTooFewNodes], or the class of it.
func (e *Error) Is(target error) bool {
	return target == ErrTooFewNodes || target == driver.ErrUnavailable
}
