package daemon_test

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/daemon"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// pipes is a listener without a network, for virtual time.
type pipes struct {
	incoming chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

// openVirtual starts a server in the bubble it is called in.
func openVirtual(t *testing.T, store driver.Store) *site {
	t.Helper()
	l := &pipes{incoming: make(chan net.Conn), closed: make(chan struct{})}
	client := &http.Client{Transport: &http.Transport{DialContext: l.dial}}
	t.Cleanup(serve(t, l, func(c *daemon.Config) { c.Store = store }))
	t.Cleanup(client.CloseIdleConnections)
	return &site{address: "http://localhost", http: client, store: store}
}

func (l *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.incoming <- there:
		return here, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements [net.Listener].
func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.incoming:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (l *pipes) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements [net.Listener].
func (l *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }
