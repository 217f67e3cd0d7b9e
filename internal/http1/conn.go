package http1

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"net"
	"net/http"
	"time"
)

// maxHeaders bounds the headers of a reply, in bytes.
const maxHeaders = 64 << 10

// conn is a connection to a server, for one request at a time.
type conn struct {
	net.Conn
	probe

	pool    *Pool
	address string
	in      *bufio.Reader
	left    int64     // how much may still be read
	head    []byte    // of the last plain reply
	wake    func()    // ends whatever reads or writes, for good
	used    bool      // has made a request before
	since   time.Time // when it became idle
}

func newConn(raw net.Conn, p *Pool, address string) *conn {
	c := &conn{Conn: raw, probe: newProbe(raw), pool: p, address: address}
	c.in = bufio.NewReader(c)
	c.wake = func() { _ = c.SetDeadline(time.Unix(1, 0)) }
	return c
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

// isIdleTooLong reports whether the connection has been idle for too long.
func (c *conn) isIdleTooLong() bool { return time.Since(c.since) >= c.pool.opts.Idle }

// exchange sends a request and receives the reply to it. The connection is the
// reply's until that is closed.
func (c *conn) exchange(ctx context.Context, message, rest []byte, r *http.Request) (*Reply, error) {
	stop := context.AfterFunc(ctx, c.wake)
	n, unsent := c.writeAll(message, rest)
	if unsent != nil && n == 0 {
		stop()
		return nil, &UnsentError{because(ctx, unsent)}
	}
	reply, err := c.receive(r) // some refuse before they have read everything
	if err != nil {
		stop()
		if unsent != nil {
			err = unsent
		}
		return nil, because(ctx, err)
	}
	reply.conn, reply.stop = c, stop
	reply.keep = reply.keep && unsent == nil
	return reply, nil
}

// writeAll writes everything with one system call, as far as the system takes it.
func (c *conn) writeAll(message, rest []byte) (sent int64, err error) {
	if len(rest) == 0 {
		n, err := c.Write(message)
		return int64(n), err
	}
	both := net.Buffers{message, rest}
	return both.WriteTo(c.Conn)
}

// receive reads the head of a reply, and skips what only announces it.
func (c *conn) receive(r *http.Request) (*Reply, error) {
	c.left = maxHeaders
	defer func() { c.left = math.MaxInt64 }()
	if bodied(r) {
		if h, ok := c.plain(); ok {
			return c.replyOf(h), nil
		}
	}
	for {
		full, err := http.ReadResponse(c.in, r) //nolint:bodyclose // the Reply closes the connection instead
		if err != nil {
			return nil, err
		}
		if full.StatusCode >= http.StatusOK || full.StatusCode == http.StatusSwitchingProtocols {
			return newFull(full), nil
		}
	}
}

// bodied reports whether replies have the bodies that their headers announce.
func bodied(r *http.Request) bool {
	return r == nil || r.Method != http.MethodHead && r.Method != http.MethodConnect
}

// plain waits for the head of a reply until it is whole, or not plain.
func (c *conn) plain() (head, bool) {
	for want := 1; ; want = c.in.Buffered() + 1 {
		if _, err := c.in.Peek(want); err != nil {
			return head{}, false // which http.ReadResponse will find, too
		}
		come, _ := c.in.Peek(c.in.Buffered())
		if h, v := parseHead(come); v != partial {
			return h, v == plain
		}
	}
}

// replyOf turns the head that has come into a reply. The text is kept for its fields.
func (c *conn) replyOf(h head) *Reply {
	text, _ := c.in.Peek(h.size)
	c.head = append(c.head[:0], text...)
	_, _ = c.in.Discard(h.size)
	return &Reply{Status: h.status, Length: h.length, left: h.length, over: h.length == 0, keep: h.keep}
}

// because returns the reason for which the context has ended, if that is why
// something failed.
func because(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
