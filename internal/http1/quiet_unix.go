//go:build unix

package http1

import (
	"errors"
	"net"
	"syscall"
)

// probe looks into the socket of an idle connection.
type probe struct {
	socket syscall.RawConn // nil: there is none
	look   func(fd uintptr) bool
	seen   *error
}

// newProbe makes here what would cost every look an allocation.
func newProbe(c net.Conn) probe {
	owner, ok := c.(syscall.Conn)
	if !ok {
		return probe{}
	}
	socket, err := owner.SyscallConn()
	if err != nil {
		return probe{}
	}
	var one [1]byte
	p := probe{socket: socket, seen: new(error)}
	p.look = func(fd uintptr) bool {
		_, *p.seen = syscall.Read(int(fd), one[:]) // does not block: Go's sockets never do
		return true
	}
	return p
}

// quiet reports whether an idle connection is open and nothing has arrived on it. A
// server that was restarted has closed it; asking costs less than a lost request.
func (p probe) quiet() bool {
	if p.socket == nil {
		return true
	}
	err := p.socket.Read(p.look)
	return err == nil && errors.Is(*p.seen, syscall.EAGAIN)
}
