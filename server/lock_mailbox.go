package server

import (
	"context"
	"sync"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// mailbox keeps what a client is about to be told: who tells it must not wait for the client, and has counted it as
// told. It grows with what the client has, for a grant has one slot for each kind of message, where the newest is; and
// who does not take messages for long is not told any more, see [Limits.Slow].
type mailbox struct {
	news chan struct{} // has room for one: there are messages

	mu      sync.Mutex
	order   []slot // the next one first
	waiting map[slot]driver.Message
}

// slot is where a message waits.
type slot struct {
	name, owner string
	kind        driver.MessageKind
}

func newMailbox() *mailbox {
	return &mailbox{news: make(chan struct{}, 1), waiting: make(map[slot]driver.Message)}
}

// putMessage keeps a message.
func (b *mailbox) putMessage(m driver.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := slot{m.Name, m.Owner, m.Kind}
	if _, there := b.waiting[at]; !there {
		b.order = append(b.order, at)
	}
	b.waiting[at] = m
	select {
	case b.news <- struct{}{}:
	default:
	}
}

// takeMessage returns the next message. One goroutine takes them.
func (b *mailbox) takeMessage(ctx context.Context) (driver.Message, error) {
	for {
		if m, ok := b.popMessage(); ok {
			return m, nil
		}
		select {
		case <-b.news:
		case <-ctx.Done():
			return driver.Message{}, ctxError(ctx)
		}
	}
}

func (b *mailbox) popMessage() (m driver.Message, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.order) == 0 {
		b.order = nil // what had room for many
		return driver.Message{}, false
	}
	at := b.order[0]
	b.order = b.order[1:]
	m = b.waiting[at]
	delete(b.waiting, at)
	return m, true
}
