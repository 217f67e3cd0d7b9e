package redislock

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bedrock-go/bedrock/redisconn"
)

// hub hears releases. Watches of one channel share a topic, and the topics of
// one server share a line, which is one connection:
//
//	watch ─┐
//	watch ─┴─ topic ─┐
//	watch ─── topic ─┴─ line ── server
//
// A topic is a goroutine that keeps its channel subscribed: it follows the
// channel to another server, and makes a new line when its line breaks. One
// mutex guards all of the bookkeeping; nothing waits while it is held.
type hub struct {
	conn       redisconn.Conn
	background context.Context //nolint:containedctx // ends the topics
	work       *sync.WaitGroup

	heard atomic.Int32 // number of topics of locks, so that who is alone can skip the mutex

	attended atomic.Int32 // number of inboxes of clients that this one acts for

	mu         sync.Mutex
	heirs      *heirs // nil where no lock is passed on
	attendants attendants
	topics     map[string]*topic
	lines      map[string]*line // by node
	closed     bool
}

//nolint:revive // what it hears comes first
func newHub(conn redisconn.Conn, background context.Context, work *sync.WaitGroup) *hub {
	return &hub{
		conn: conn, background: background, work: work,
		topics: make(map[string]*topic), lines: make(map[string]*line), attendants: make(attendants),
	}
}

// ear hears what happens on a topic. It is told while hub.mu is held.
type ear interface {
	hear(on *topic, text string)
	miss() // something may not have been heard
}

// watchChannel adds a watch to a channel, and returns when it is subscribed.
func (h *hub) watchChannel(ctx context.Context, channel string, sharded bool) (*watch, error) {
	w := &watch{c: make(chan struct{}, 1)}
	if err := h.addWatch(ctx, w, channel, sharded); err != nil {
		return nil, err
	}
	return w, nil
}

// addWatch begins a watch, and returns when it has begun.
func (h *hub) addWatch(ctx context.Context, w *watch, channel string, sharded bool) error {
	t, ready, err := h.joinTopic(w, channel, sharded)
	if err != nil {
		return err
	}
	w.topic = t
	select {
	case <-ready:
		if err := w.topic.failure(); err != nil {
			w.Close()
			return err
		}
		return nil
	case <-ctx.Done():
		w.Close()
		return ctx.Err()
	case <-h.background.Done():
		w.Close()
		return errClosed
	}
}

// joinTopic puts an ear into its topic, and starts the topic if there is none.
func (h *hub) joinTopic(e ear, channel string, sharded bool) (t *topic, ready <-chan struct{}, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, nil, errClosed
	}
	t, ready = h.addEar(e, channel, sharded)
	return t, ready, nil
}

// addEar is joinTopic while h.mu is held.
func (h *hub) addEar(e ear, channel string, sharded bool) (t *topic, ready <-chan struct{}) {
	t = h.topics[channel]
	if t == nil {
		w, isWatch := e.(*watch)
		t = newTopic(h, channel, sharded, isWatch && !w.ofTurn && !strings.HasPrefix(channel, clientChannel))
		h.topics[channel] = t
		if t.ofLock {
			h.heard.Add(1)
		}
		h.work.Add(1)
		go t.run()
	}
	t.ears[e] = struct{}{}
	return t, t.ready
}

// resume adds a watch to a channel that is subscribed at this moment, else it returns nil.
func (h *hub) resume(channel string) *watch {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[channel]
	if t == nil || !t.subscribed || h.closed {
		return nil
	}
	w := &watch{c: make(chan struct{}, 1), topic: t}
	t.ears[w] = struct{}{}
	return w
}

// aside runs what goes on between calls in the background, unless the hub is closed.
func (h *hub) aside(run func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.work.Go(run)
	}
}

// listening returns 1 if this hub is subscribed to channel, and so was counted
// by a PUBLISH, else 0.
func (h *hub) listening(channel string) int {
	if h.heard.Load() == 0 {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.topics[channel]; t != nil && t.subscribed {
		return 1
	}
	return 0
}

// lingering returns 1 if this hub is subscribed to channel, and nobody waits there
// any more, else 0.
func (h *hub) lingering(channel string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.topics[channel]; t != nil && (t.subscribed || t.leaving) && len(t.ears) == 0 {
		return 1
	}
	return 0
}

// close refuses further watches and ends the lines. The topics end with the
// background context.
func (h *hub) close() {
	h.mu.Lock()
	h.closed = true
	lines := h.lines
	h.lines = nil
	h.mu.Unlock()
	for _, l := range lines {
		l.close()
	}
}
