package httpcall

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"time"
)

// maxHeaders bounds the headers of a reply, in bytes.
const maxHeaders = 64 << 10

// conn is a connection to a participant, for one call at a time.
type conn struct {
	net.Conn

	pool    *pool
	address string
	in      *bufio.Reader
	out     *bufio.Writer
	left    int64     // how much may still be read
	since   time.Time // when it became idle
}

// Read reads no more than is left.
func (c *conn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, fmt.Errorf("the headers of the reply exceeded %d bytes", maxHeaders)
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// stale tells whether the connection has been idle for too long.
func (c *conn) stale() bool { return time.Since(c.since) >= idle }

// fresh tells whether an idle connection can be expected to work.
func (c *conn) fresh() bool { return !c.stale() && quiet(c.Conn) }

// exchange sends a request and receives the reply to it. The connection is the
// reply's until its body is closed.
func (c *conn) exchange(ctx context.Context, r *http.Request) (*http.Response, error) {
	stop := context.AfterFunc(ctx, func() {
		_ = c.SetDeadline(time.Unix(1, 0)) // wakes whoever reads or writes
	})
	c.left = maxHeaders
	sent := c.send(r)
	reply, err := c.receive(r) // some refuse before they have read everything
	if err != nil {
		stop()
		if sent != nil {
			return nil, sent
		}
		return nil, err
	}
	c.left = math.MaxInt64
	reply.Body = &replyBody{
		ReadCloser: reply.Body, conn: c, stop: stop,
		over: reply.Body == http.NoBody,
		keep: sent == nil && !reply.Close && reply.StatusCode != http.StatusSwitchingProtocols,
	}
	return reply, nil
}

func (c *conn) send(r *http.Request) error {
	if err := r.Write(c.out); err != nil {
		return err
	}
	return c.out.Flush()
}

// receive skips what only announces the reply.
func (c *conn) receive(r *http.Request) (*http.Response, error) {
	for {
		reply, err := http.ReadResponse(c.in, r)
		if err != nil || reply.StatusCode >= http.StatusOK || reply.StatusCode == http.StatusSwitchingProtocols {
			return reply, err
		}
	}
}

// replyBody is the body of a reply. Closing it decides about the connection.
type replyBody struct {
	io.ReadCloser

	conn *conn
	stop func() bool
	over bool // all of it was read
	keep bool
}

// Read implements io.Reader.
func (b *replyBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.over = b.over || err == io.EOF
	return n, err
}

// Close implements io.Closer. It does not close the body below, which would read it
// to its end first.
func (b *replyBody) Close() error {
	c := b.conn
	if c == nil {
		return nil
	}
	b.conn = nil
	// If it is too late to stop, the connection's deadline is spoilt.
	if b.stop() && b.over && b.keep && c.in.Buffered() == 0 {
		c.pool.put(c)
		return nil
	}
	return c.Close()
}
