package server

import (
	"context"
	"sync"

	"connectrpc.com/connect"

	"github.com/bedrock-go/bedrock/lock/driver"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
)

// Listen implements the service. The first message says that listening has begun.
func (l *locks) Listen(
	ctx context.Context, m *bedrockv1.ListenRequest, stream *connect.ServerStream[bedrockv1.ListenResponse],
) error {
	waiter, ok := l.backend.(driver.Waiter)
	if !ok {
		return l.translateRead(ctx, "listen", driver.ErrUnsupported)
	}
	kind, err := checkListen(m)
	if err != nil {
		return l.translateRead(ctx, "listen", err)
	}
	ctx, cancel := untilDrained(ctx)
	defer cancel()
	watch, err := waiter.Watch(ctx, m.GetName(), kind)
	if err != nil {
		return l.translateRead(ctx, "listen", err)
	}
	defer watch.Close()
	l.listeners.add(m.GetName(), m.GetClient())
	defer l.listeners.remove(m.GetName(), m.GetClient())
	return l.passOn(ctx, watch.C(), stream)
}

func (l *locks) passOn(
	ctx context.Context, signal <-chan struct{}, stream *connect.ServerStream[bedrockv1.ListenResponse],
) error {
	send := func() error { return stream.Send(&bedrockv1.ListenResponse{}) }
	for {
		if err := sendWithin(ctx, l.limits.Slow, send); err != nil {
			return err
		}
		select {
		case <-signal:
		case <-ctx.Done():
			return ctxError(ctx)
		}
	}
}

// listeners counts who listens at this server, by name and client: the store sees
// one client only, the server.
type listeners struct {
	mu     sync.Mutex
	byName map[string]map[string]int
}

func (s *listeners) add(name, client string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byName == nil {
		s.byName = make(map[string]map[string]int)
	}
	if s.byName[name] == nil {
		s.byName[name] = make(map[string]int)
	}
	s.byName[name][client]++
}

func (s *listeners) remove(name, client string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byName[name][client]--; s.byName[name][client] == 0 {
		delete(s.byName[name], client)
	}
	if len(s.byName[name]) == 0 {
		delete(s.byName, name)
	}
}

// others counts the clients that listen, but for one, and those who stand in line.
func (s *listeners) others(name, client string, standing *standings) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for listener := range s.byName[name] {
		if listener != client && !standing.stands(name, listener) {
			n++
		}
	}
	return n
}
