package server

import (
	"context"
	"sync"

	"connectrpc.com/connect"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// Attend implements the service. The first message says that it has begun.
func (l *locks) Attend(
	ctx context.Context, m *bedrockv1.AttendRequest, stream *connect.ServerStream[bedrockv1.AttendResponse],
) error {
	attender, ok := l.backend.(driver.Attender)
	if !ok {
		return l.translateRead(ctx, "attend", driver.ErrUnsupported)
	}
	if err := checkAttend(m); err != nil {
		return l.translateRead(ctx, "attend", err)
	}
	ctx, cancel := untilDrained(ctx)
	defer cancel()
	box := newMailbox(m.GetListener())
	stop, err := attender.Attend(ctx, m.GetClient(), box.putMessage)
	if err != nil {
		return l.translateRead(ctx, "attend", err)
	}
	defer l.attendants.add(m.GetClient(), box)()
	defer stop() // first: whom the store still takes for one who attends, it passes the lock on to
	return l.passLetters(ctx, box, stream)
}

func (l *locks) passLetters(
	ctx context.Context, box *mailbox, stream *connect.ServerStream[bedrockv1.AttendResponse],
) error {
	next := &bedrockv1.AttendResponse{}
	for {
		send := func() error { return stream.Send(next) }
		if err := sendWithin(ctx, l.limits.Slow, send); err != nil {
			return err
		}
		got, err := box.takeLetter(ctx)
		if err != nil {
			return err
		}
		if got.granted {
			l.observePassed(ctx, &got.grant, box.listener)
		}
		next = got.wire()
	}
}

// wire writes a letter.
func (m *letter) wire() *bedrockv1.AttendResponse {
	if m.granted {
		return apiwire.Passed(m.grant)
	}
	return apiwire.Message(m.message)
}

// attendants are the clients that attend at this server, and the mailboxes of each: one may have two for a time, when
// the connection of the first is broken and nobody knows yet.
type attendants struct {
	mu       sync.RWMutex
	byClient map[string][]*mailbox
}

// add enters a client, until leave.
func (a *attendants) add(client string, box *mailbox) (leave func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byClient == nil {
		a.byClient = make(map[string][]*mailbox)
	}
	a.byClient[client] = append(a.byClient[client], box)
	return func() { a.remove(client, box) }
}

func (a *attendants) remove(client string, box *mailbox) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var left []*mailbox
	for _, other := range a.byClient[client] {
		if other != box {
			left = append(left, other)
		}
	}
	if a.byClient[client] = left; len(left) == 0 {
		delete(a.byClient, client)
	}
}

// listenerOf returns what the client of an owner listens as, and whether it attends at all at this moment.
func (a *attendants) listenerOf(owner string) (listener string, attends bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	boxes := a.byClient[driver.ClientOf(owner)]
	if len(boxes) == 0 {
		return "", false
	}
	return boxes[len(boxes)-1].listener, true
}

// putGrant has a client told what was granted to it; or all of them, if nobody knows whose it is.
func (a *attendants) putGrant(g driver.Grant) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if g.Owner != "" {
		for _, box := range a.byClient[driver.ClientOf(g.Owner)] {
			box.putGrant(g)
		}
		return
	}
	for _, boxes := range a.byClient {
		for _, box := range boxes {
			box.putGrant(g)
		}
	}
}
