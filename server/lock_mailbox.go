package server

import (
	"context"
	"sync"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// mailbox keeps what a client is about to be told: who tells it must not wait for the client, and has counted it as
// told. It grows with what the client has, for a grant has one slot for each kind of letter, where the newest is; and
// who does not take letters for long is not told any more, see [Limits.Slow].
type mailbox struct {
	listener string        // what the client listens as
	news     chan struct{} // has room for one: there are letters

	mu      sync.Mutex
	order   []slot // the next one first
	waiting map[slot]letter
}

// letter is what a client is told: what others do to a grant, or what was granted to a request that stands.
type letter struct {
	granted bool
	grant   driver.Grant
	message driver.Message
}

// slot is where a letter waits.
type slot struct {
	name, owner string
	granted     bool
	kind        driver.MessageKind
}

func newMailbox(listener string) *mailbox {
	return &mailbox{listener: listener, news: make(chan struct{}, 1), waiting: make(map[slot]letter)}
}

// putMessage keeps a message.
func (b *mailbox) putMessage(m driver.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.putLetter(slot{name: m.Name, owner: m.Owner, kind: m.Kind}, letter{message: m})
}

// putGrant keeps a grant. One that is to be asked for says less than one whose tokens are known.
func (b *mailbox) putGrant(g driver.Grant) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := slot{name: g.Name, owner: g.Owner, granted: true}
	if g.Tokens > 0 || b.waiting[at].grant.Tokens == 0 {
		b.putLetter(at, letter{granted: true, grant: g})
	}
}

// putLetter puts a letter into its slot. b.mu is held.
func (b *mailbox) putLetter(at slot, m letter) {
	if _, there := b.waiting[at]; !there {
		b.order = append(b.order, at)
	}
	b.waiting[at] = m
	select {
	case b.news <- struct{}{}:
	default:
	}
}

// takeLetter returns the next letter. One goroutine takes them.
func (b *mailbox) takeLetter(ctx context.Context) (letter, error) {
	for {
		if m, ok := b.popLetter(); ok {
			return m, nil
		}
		select {
		case <-b.news:
		case <-ctx.Done():
			return letter{}, ctxError(ctx)
		}
	}
}

func (b *mailbox) popLetter() (m letter, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.order) == 0 {
		b.order = nil // what had room for many
		return letter{}, false
	}
	at := b.order[0]
	b.order = b.order[1:]
	m = b.waiting[at]
	delete(b.waiting, at)
	return m, true
}
