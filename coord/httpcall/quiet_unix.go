//go:build unix

package httpcall

import (
	"errors"
	"net"
	"syscall"
)

// quiet tells whether an idle connection is open and nothing has arrived on it. A
// participant that was restarted has closed it; asking costs less than a lost call.
func quiet(c net.Conn) bool {
	socket, ok := c.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	var failure error
	err = raw.Read(func(fd uintptr) bool {
		_, failure = syscall.Read(int(fd), make([]byte, 1)) // does not block: Go's sockets never do
		return true
	})
	return err == nil && errors.Is(failure, syscall.EAGAIN)
}
