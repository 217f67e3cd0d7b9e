package stage

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/torture/history"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
)

// Pause stops a process for a while.
func Pause(ctx context.Context, w *Worker, d time.Duration) (e nemesis.Effect, err error) {
	if err := w.Freeze(); err != nil {
		return e, err
	}
	e.From = history.Now()
	sleep.For(ctx, d)
	e.To = history.Now()
	w.Thaw()
	e.Evidence = fmt.Sprintf("process %d was stopped for %v", w.Pid(), d.Round(time.Millisecond))
	return e, nil
}

// freezer is a server that can be frozen.
type freezer interface {
	Addr() string
	Freeze()
	Thaw()
}

// Frozen stops a server for a while.
func Frozen(ctx context.Context, server freezer, d time.Duration) (e nemesis.Effect, err error) {
	server.Freeze()
	defer server.Thaw()
	e.Evidence, err = Silent(server.Addr())
	e.From = history.Now()
	sleep.For(ctx, d)
	e.To = history.Now()
	return e, err
}

// Silent is evidence that a server on this machine does not answer: it is asked.
func Silent(addr string) (string, error) {
	const limit = 100 * time.Millisecond
	conn, err := (&net.Dialer{Timeout: limit}).DialContext(context.Background(), "tcp", addr)
	if err != nil {
		return "connection refused at " + addr, nil
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(limit))
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return "connection broken at " + addr, nil
	}
	if n, err := conn.Read(make([]byte, 16)); err == nil {
		return "", fmt.Errorf("%s answered %d bytes while it was to be silent", addr, n)
	}
	return "no answer from " + addr, nil
}
