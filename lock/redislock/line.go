package redislock

import (
	"cmp"
	"context"
	"fmt"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/redisconn"
)

// line is a connection for subscriptions, shared by the topics of one server.
type line struct {
	hub      *hub
	node     string
	opened   chan struct{} // closed when the listener is there, or err
	listener redisconn.Listener
	err      error
	end      error // why it is there no more, if that is known
}

var _ redisconn.Sink = (*line)(nil)

// lineTo returns the line to a node, and opens it if there is none.
func (h *hub) lineTo(ctx context.Context, node string) (*line, error) {
	l, mine, err := h.lineAt(node)
	if err != nil {
		return nil, err
	}
	if mine {
		l.open(ctx)
	}
	select {
	case <-l.opened:
		return l, l.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", driver.ErrUnavailable, ctx.Err())
	}
}

// lineAt returns the line to a node, and whether the caller must open it.
func (h *hub) lineAt(node string) (l *line, mine bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, false, errClosed
	}
	if l := h.lines[node]; l != nil {
		return l, false, nil
	}
	l = &line{hub: h, node: node, opened: make(chan struct{})}
	h.lines[node] = l
	return l, true, nil
}

func (l *line) open(ctx context.Context) {
	l.listener, l.err = l.hub.conn.Listen(ctx, l.node, l)
	if l.err != nil {
		l.Broken(l.err)
	}
	close(l.opened)
}

// close ends the line; its topics are ending too.
func (l *line) close() {
	<-l.opened
	if l.listener != nil {
		l.listener.Close()
	}
}

// takeDown closes a line that does not answer.
func (l *line) takeDown() {
	l.Broken(nil)
	l.listener.Close()
}

// whyEnded says that the line is there no more. The server may have ended it with an answer, such as a refusal.
func (l *line) whyEnded() error {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	err := fmt.Errorf("%w: the connection for subscriptions has ended", driver.ErrUnavailable)
	if l.end == nil {
		return err
	}
	return fmt.Errorf("%w: %v", err, l.end) //nolint:errorlint // told, but nothing to match
}

// Subscribed implements [redisconn.Sink].
func (l *line) Subscribed(channel string) {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	if t := l.hub.topics[channel]; t != nil && t.line == l && !t.leaving {
		t.setSubscribed(true)
	}
}

// Unsubscribed implements [redisconn.Sink].
func (l *line) Unsubscribed(channel string) {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	if t := l.hub.topics[channel]; t != nil && t.line == l {
		t.subscriptionLost()
	}
}

// Message implements [redisconn.Sink].
func (l *line) Message(channel, text string) {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	if t := l.hub.topics[channel]; t != nil {
		t.heard, t.looks = true, 0
		if t.ofLock {
			l.hub.heirs.hearTurn(channel, text)
		}
		for e := range t.ears {
			e.hear(t, text)
		}
	}
}

// Broken implements [redisconn.Sink]: the topics look for another line.
func (l *line) Broken(why error) {
	h := l.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	l.end = cmp.Or(l.end, why)
	if h.lines[l.node] == l {
		delete(h.lines, l.node)
	}
	for _, t := range h.topics {
		if t.line == l {
			t.line = nil
			t.subscriptionLost()
		}
	}
}
