package redislock

import (
	"context"
	"fmt"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Attend implements [driver.Attender]: it listens to the channel of a client that this backend acts for. Owners that
// are not called as package lock calls them have none.
func (b *backend) Attend(ctx context.Context, client string, tell func(driver.Message)) (stop func(), err error) {
	if b.inbox == nil || !looksLikeOwner(client+":1") {
		return nil, fmt.Errorf("%w: messages to owners of %q", driver.ErrUnsupported, client)
	}
	i := newInbox(b.hub)
	i.client = client + ":"
	i.note = func(m driver.Message) {
		if m.Kind != driver.Wanted { // nothing lingers with whom it is not told
			tell(m)
		}
	}
	t, ready, err := b.hub.joinTopic(i, clientChannel+client[:clientLen], false)
	if err != nil {
		return nil, describe("attend", client, err)
	}
	select {
	case <-ready:
		err = t.failure()
	case <-ctx.Done():
		err = notSent(ctx.Err())
	case <-b.hub.background.Done():
		err = errClosed
	}
	if err != nil {
		t.drop(i)
		return nil, describe("attend", client, err)
	}
	return func() { t.drop(i) }, nil
}
