package locktest

import (
	"context"

	"github.com/bedrock-go/bedrock/lock"
)

// Renewals is an observer that tells of every renewal that got through, if somebody
// listens.
type Renewals chan struct{}

// Observe implements [lock.Observer].
func (r Renewals) Observe(_ context.Context, e lock.Event) {
	if e.Kind == lock.EventRenewed {
		select {
		case r <- struct{}{}:
		default:
		}
	}
}
