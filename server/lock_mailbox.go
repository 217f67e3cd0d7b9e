package server

import (
	"context"
	"sync/atomic"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// mailboxSize is how many messages may wait for a client that is slow to take them.
const mailboxSize = 64

// mailbox keeps what a client is about to be told: who tells it must not wait for the client.
type mailbox struct {
	messages chan driver.Message
	missed   atomic.Bool // one found no room
}

func newMailbox() *mailbox { return &mailbox{messages: make(chan driver.Message, mailboxSize)} }

// putMessage keeps a message, or that one was missed: there are others then, after which the client learns of it.
func (b *mailbox) putMessage(m driver.Message) {
	select {
	case b.messages <- m:
	default:
		b.missed.Store(true)
	}
}

// takeMessage returns the next message.
func (b *mailbox) takeMessage(ctx context.Context) (driver.Message, error) {
	if b.missed.Swap(false) {
		return driver.Message{Kind: driver.Missed}, nil
	}
	select {
	case m := <-b.messages:
		return m, nil
	case <-ctx.Done():
		return driver.Message{}, ctxError(ctx)
	}
}
