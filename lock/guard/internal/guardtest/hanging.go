package guardtest

import (
	"context"

	"github.com/bedrock-go/bedrock/lock/guard"
)

// Hanging is a store whose database waits for somebody, until who asks has had enough.
type Hanging struct {
	// Asked is called when it is.
	Asked func()
}

// Announce implements [guard.Store].
func (h Hanging) Announce(ctx context.Context, _ guard.Ticket) error {
	h.Asked()
	<-ctx.Done()
	return ctx.Err()
}
