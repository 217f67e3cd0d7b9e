package http1

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// Reply is what a server has answered. It must be closed. It is for one goroutine.
type Reply struct {
	// Status is the status code: 200 and so on.
	Status int
	// Length is that of the body in bytes; -1 if it is not known.
	Length int64

	conn *conn          // nil when closed
	full *http.Response // nil if the reply is plain
	left int64          // of the body of a plain one
	stop func() bool    // tells the end of the context not to end the connection
	over bool           // all of the body was read
	keep bool           // the connection stays open
}

// newFull makes the reply that http.ReadResponse has read.
func newFull(full *http.Response) *Reply {
	return &Reply{
		Status: full.StatusCode, Length: full.ContentLength, full: full,
		over: full.Body == http.NoBody,
		keep: !full.Close && full.StatusCode != http.StatusSwitchingProtocols,
	}
}

// Header returns the first value of a header field, or nothing. The reply must not
// have been closed.
func (r *Reply) Header(name string) string {
	if r.full != nil {
		return r.full.Header.Get(name)
	}
	for field, value := range r.conn.fields() {
		if named(field, name) {
			return string(value)
		}
	}
	return ""
}

// fields lists the header fields of the last plain reply.
func (c *conn) fields() func(yield func(name, value []byte) bool) {
	return func(yield func(name, value []byte) bool) {
		_, rest, _ := bytes.Cut(c.head, []byte("\r\n"))
		for {
			line, after, _ := bytes.Cut(rest, []byte("\r\n"))
			name, value, ok := bytes.Cut(line, []byte(":"))
			if !ok || !yield(name, trim(value)) {
				return
			}
			rest = after
		}
	}
}

var errClosed = errors.New("the reply is closed")

// Read reads from the body. It implements io.Reader.
func (r *Reply) Read(p []byte) (n int, err error) {
	switch {
	case r.conn == nil:
		return 0, errClosed
	case r.full != nil:
		n, err = r.full.Body.Read(p)
		r.over = r.over || err == io.EOF
		return n, err
	case r.over:
		return 0, io.EOF
	}
	n, err = r.conn.in.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	r.over = r.left == 0
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Close decides about the connection. It implements io.Closer. What is left of the
// body costs the connection, which is cheaper than reading what a server goes on
// sending.
func (r *Reply) Close() error {
	c := r.conn
	if c == nil {
		return nil
	}
	r.conn = nil
	// If it is too late to stop, the connection's deadline is spoilt.
	if r.stop() && r.over && r.keep && c.in.Buffered() == 0 {
		c.pool.addIdle(c)
		return nil
	}
	return c.Close()
}
