//go:build !linux

package sqlite

import (
	"fmt"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// newBell has none: who waits looks again and again.
func newBell(string) (bell, error) {
	return nil, fmt.Errorf("%w: nothing tells here that a file has changed", driver.ErrUnsupported)
}
