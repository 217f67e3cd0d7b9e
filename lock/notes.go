package lock

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// waitsKey is where the metadata of a grant has the names that its holder waits for.
const waitsKey = "bedrock:waits"

// notes are what the grants of a client say of their holders' waits. It says nothing of most.
type notes struct {
	mu     sync.Mutex
	byHold map[*hold]*note
}

// note is what one grant says.
type note struct {
	lane  chan struct{} // one slot: its changes follow each other
	users int           // who are about to change it, or have a name in it; guarded by notes.mu
	names map[string]int
}

// use returns what a grant says, to who may change it.
func (n *notes) use(h *hold, more int) *note {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := n.byHold[h]
	if at == nil {
		at = &note{lane: make(chan struct{}, 1), names: make(map[string]int)}
		if n.byHold == nil {
			n.byHold = make(map[*hold]*note)
		}
		n.byHold[h] = at
	}
	if at.users += more; at.users == 0 {
		delete(n.byHold, h)
	}
	return at
}

// noteWait has the store say, beside the grant, that its holder waits for a name. What fails is not said.
func (h *hold) noteWait(name string) {
	n := h.q.client.notes.use(h, 1)
	n.lane <- struct{}{}
	defer func() { <-n.lane }()
	n.names[name]++
	_ = h.annotate(n)
}

// noteWaitOver takes that back. It goes on until the store has said so, or the grant is over.
func (h *hold) noteWaitOver(name string) {
	c := h.q.client
	n := c.notes.use(h, 0)
	n.lane <- struct{}{}
	defer func() {
		c.notes.use(h, -1)
		<-n.lane
	}()
	if n.names[name]--; n.names[name] == 0 {
		delete(n.names, name)
	}
	for pause := 10 * time.Millisecond; h.isPossessed(); pause = min(2*pause, time.Second) {
		err := h.annotate(n)
		if err == nil || errors.Is(err, driver.ErrLost) || errors.Is(err, driver.ErrRefused) || !c.sleep(pause) {
			return
		}
	}
}

func (h *hold) isPossessed() bool {
	h.q.part.mu.Lock()
	defer h.q.part.mu.Unlock()
	return h.state == possessed
}

// annotate stores beside the grant what is to be said of it now.
func (h *hold) annotate(n *note) error {
	c := h.q.client
	backend, ok := c.backend.(driver.Annotator)
	if !ok {
		return ErrUnsupported
	}
	meta := h.want.meta
	if len(n.names) > 0 {
		said := driver.DecodeMeta(meta)                                        // every grant has some
		said[waitsKey] = strings.Join(slices.Sorted(maps.Keys(n.names)), "\n") // no name has such a character
		meta = driver.EncodeMeta(said)
	}
	if len(meta) > driver.MaxMeta {
		return ErrUnsupported
	}
	ctx, cancel := context.WithTimeout(c.background, c.opts.AnswerTime())
	defer cancel()
	return backend.Annotate(ctx, h.grant, meta)
}

// takeWaits takes out of a grant's metadata what its holder waits for.
func takeWaits(meta map[string]string) []string {
	said, ok := meta[waitsKey]
	if !ok {
		return nil
	}
	delete(meta, waitsKey)
	return strings.Split(said, "\n")
}
