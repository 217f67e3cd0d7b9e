package engine

import (
	"context"
	"fmt"
	"net"
	"runtime/debug"

	"github.com/bedrock-go/bedrock/server"
)

// served is a server that runs.
type served struct {
	url  string
	end  context.CancelFunc
	done chan error
}

// startServer puts the coordinator behind the server, as bedrock serve does on a loopback
// address.
func startServer(ctx context.Context, e *engine) (*served, error) {
	debug.SetGCPercent(400) // as bedrock serve does
	handler, err := server.New(server.Services{Coordinator: e.co, Inspector: e.co, Operator: e.co, Topics: e.co}, nil)
	if err != nil {
		return nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	s := &served{url: "http://" + listener.Addr().String(), done: make(chan error, 1)}
	ctx, s.end = context.WithCancel(ctx)
	go func() { s.done <- server.Serve(ctx, listener, handler, nil) }()
	return s, nil
}

// stop ends the server.
func (s *served) stop() error {
	s.end()
	return <-s.done
}
