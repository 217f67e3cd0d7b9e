package httpclients

import (
	"errors"
	"net"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
)

// openFastGuarded makes of fasthttp's client what can be made of it from outside: each
// call has a goroutine, so that it can be left, and each connection looks before it is
// used again whether it is open and nothing has come unasked.
func openFastGuarded(address string) (Client, error) {
	c := newFast(address)
	c.host.DialTimeout = dialGuarded
	c.host.MaxIdemponentCallAttempts = 1 << 20
	c.host.RetryIfErr = func(_ *fasthttp.Request, _ int, err error) (resetTimeout, retry bool) {
		return false, errors.Is(err, errStale) // of which nothing was sent
	}
	return apart{c}, nil
}

// errStale is of a request that its connection did not take.
var errStale = errors.New("the connection is not usable any more")

func dialGuarded(address string, limit time.Duration) (net.Conn, error) {
	raw, err := dialFast(address, limit)
	if err != nil {
		return nil, err
	}
	socket, err := raw.(*net.TCPConn).SyscallConn()
	if err != nil {
		return nil, errors.Join(errUnsent, err, raw.Close())
	}
	return newGuarded(raw, socket), nil
}

// guarded is a connection that takes no request when it should not.
type guarded struct {
	net.Conn
	socket  syscall.RawConn
	look    func(fd uintptr) bool
	seen    error
	replied bool // since the last request
}

func newGuarded(raw net.Conn, socket syscall.RawConn) *guarded {
	c := &guarded{Conn: raw, socket: socket}
	var one [1]byte
	c.look = func(fd uintptr) bool {
		_, c.seen = syscall.Read(int(fd), one[:]) // does not block: Go's sockets never do
		return true
	}
	return c
}

func (c *guarded) Read(p []byte) (int, error) {
	c.replied = true
	return c.Conn.Read(p)
}

func (c *guarded) Write(p []byte) (int, error) {
	if c.replied && !c.quiet() {
		return 0, errStale
	}
	c.replied = false
	return c.Conn.Write(p)
}

func (c *guarded) quiet() bool {
	err := c.socket.Read(c.look)
	return err == nil && errors.Is(c.seen, syscall.EAGAIN)
}
