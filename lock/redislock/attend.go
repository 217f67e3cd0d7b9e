package redislock

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Attend implements [driver.Attender]: it listens to the channel of a client that this backend acts for. Owners that
// are not called as package lock calls them have none.
func (b *backend) Attend(ctx context.Context, client string, tell func(driver.Message)) (stop func(), err error) {
	if b.inbox == nil || !looksLikeOwner(client+":1") {
		return nil, fmt.Errorf("%w: messages to owners of %q", driver.ErrUnsupported, client)
	}
	i := newInbox(b.hub)
	i.client, i.shared, i.heirs = client+":", true, b.heirs
	i.give = func(g driver.Grant) { b.inbox.give(g) }
	i.note = func(m driver.Message) {
		if m.Kind != driver.Wanted { // nothing lingers with whom it is not told
			tell(m)
		}
	}
	b.inbox.retire()
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
	i.current.Store(t)
	b.hub.addAttendant(client, i)
	return func() {
		b.hub.removeAttendant(client, i)
		t.drop(i)
	}, nil
}

// retire ends the inbox of a backend that acts for many clients: the first of them would be taken for its own, and go
// on to be there when it has gone. One that was asked for by its client stays.
func (i *inbox) retire() {
	if i.retired.Load() {
		return
	}
	i.hub.mu.Lock()
	defer i.hub.mu.Unlock()
	if i.asked || i.retired.Swap(true) {
		return
	}
	if t := i.current.Swap(nil); t != nil {
		delete(t.ears, i)
		t.pokeRun()
	}
}

// attendants are the inboxes of clients that a backend acts for. One may have two for a time: the connection of the
// first is broken, and nobody knows yet.
type attendants map[string][]*inbox

func (h *hub) addAttendant(client string, i *inbox) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.attendants[client] = append(h.attendants[client], i)
	h.attended.Add(1)
}

// removeAttendant takes an inbox out. When it was the last one of its client, nobody hears what that is granted.
func (h *hub) removeAttendant(client string, i *inbox) {
	h.mu.Lock()
	defer h.mu.Unlock()
	left := slices.DeleteFunc(h.attendants[client], func(o *inbox) bool { return o == i })
	h.attended.Add(int32(len(left) - len(h.attendants[client])))
	if h.attendants[client] = left; len(left) == 0 {
		delete(h.attendants, client)
		h.heirs.removeClient(client)
	}
}

// attendantOf returns the inbox of a client that this one acts for, if it hears what it is told; else nil.
func (h *hub) attendantOf(owner string) *inbox {
	if h.attended.Load() == 0 {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, i := range h.attendants[driver.ClientOf(owner)] {
		if i.attends(owner) {
			return i
		}
	}
	return nil
}

// isFirst reports whether an inbox is the one of its client that tells what it is granted. hub.mu is held.
func (i *inbox) isFirst() bool {
	all := i.hub.attendants[strings.TrimSuffix(i.client, ":")]
	return len(all) == 0 && !i.shared || len(all) > 0 && all[0] == i
}
