package lock

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/settle"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// waitsKey is where the metadata of a grant has what its holder waits for. Nobody else's key begins like that.
const (
	waitsKey     = reservedMeta + "waits"
	reservedMeta = "bedrock:"
)

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
	late  bool // a change may have been made, or may still be, without an answer
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

// noteWait has the store say, beside the grant, that its holder waits for something. What fails is not said.
func (h *hold) noteWait(wish string) {
	n := h.q.client.notes.use(h, 1)
	n.lane <- struct{}{}
	defer func() { <-n.lane }()
	n.names[wish]++
	_ = h.annotate(n)
}

// noteWaitOver takes that back. It goes on until the store has said so, or the grant is over; and says it again where
// what was said before may come late.
func (h *hold) noteWaitOver(wish string) {
	c := h.q.client
	n := c.notes.use(h, 0)
	defer c.notes.use(h, -1)
	n.lane <- struct{}{}
	if n.names[wish]--; n.names[wish] == 0 {
		delete(n.names, wish)
	}
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := h.annotate(n)
		if err == nil || errors.Is(err, driver.ErrLost) || errors.Is(err, driver.ErrRefused) ||
			!h.isInStore() || !c.pauseUnlessStopped(pause) {
			break
		}
	}
	late := n.late
	<-n.lane
	for pause := time.Second; late && pause < time.Minute && h.isInStore(); pause *= 4 {
		if !c.pauseUnlessStopped(pause) {
			return
		}
		n.lane <- struct{}{}
		_ = h.annotate(n)
		<-n.lane
	}
}

// inBackground does something unless the client was stopped: then it gives the grant back.
func (h *hold) inBackground(do func()) {
	c := h.q.client
	if c.queues.addWork(h.grant.Name) {
		go func() {
			defer c.work.Done()
			do()
		}()
	}
}

// pauseUnlessStopped passes some time, and reports whether the client goes on.
func (c *Client) pauseUnlessStopped(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.closed:
		return false
	}
}

// isInStore reports whether the store may have the grant: one that was unlocked may be kept there for a while.
func (h *hold) isInStore() bool {
	h.q.part.mu.Lock()
	has := h.state == possessed
	h.q.part.mu.Unlock()
	r := &h.q.client.renewer
	r.mu.Lock()
	defer r.mu.Unlock()
	return has || h.q.client.now() < h.kept
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
		meta = withWaits(meta, strings.Join(slices.Sorted(maps.Keys(n.names)), "\n"))
	}
	ctx, cancel := context.WithTimeout(c.background, c.opts.AnswerTime())
	defer cancel()
	err := backend.Annotate(ctx, h.grant, meta)
	n.late = n.late || err != nil && !errors.Is(err, driver.ErrLost) && !settle.NothingHappened(err)
	return err
}

// withWaits returns metadata that says what a holder waits for, too. If there is no room for that it says nothing else,
// but where the holder is.
func withWaits(meta, waits string) string {
	said := driver.DecodeMeta(meta) // every grant has some
	said[waitsKey] = waits
	if full := driver.EncodeMeta(said); len(full) <= driver.MaxMeta {
		return full
	}
	short := driver.EncodeMeta(map[string]string{"host": said["host"], "pid": said["pid"], waitsKey: waits})
	if len(short) > driver.MaxMeta {
		return meta
	}
	return short
}

// takeWishes takes out of a grant's metadata what its holder waits for.
func takeWishes(meta map[string]string) (wishes []wish) {
	said, ok := meta[waitsKey]
	if !ok {
		return nil
	}
	delete(meta, waitsKey)
	for text := range strings.SplitSeq(said, "\n") {
		if w, ok := parseWish(text); ok {
			wishes = append(wishes, w)
		}
	}
	return wishes
}

// wishNames returns what is wished for; nil for nothing.
func wishNames(wishes []wish) (names []string) {
	for _, w := range wishes {
		names = append(names, w.name)
	}
	return names
}
