package subject

import (
	"context"
	"net"
	"time"
)

// farConn is a connection to a server that is further away: every answer takes so much longer.
type farConn struct {
	*net.TCPConn

	delay time.Duration
}

// Read implements [net.Conn]. It waits when an answer has come, and not before: the time is that of the way.
func (c farConn) Read(p []byte) (n int, err error) {
	n, err = c.TCPConn.Read(p)
	if n > 0 {
		time.Sleep(c.delay)
	}
	return n, err
}

// farDialer returns what makes such connections for go-redis.
func farDialer(delay time.Duration) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		if tcp, ok := conn.(*net.TCPConn); ok {
			return farConn{tcp, delay}, nil
		}
		return conn, err
	}
}
