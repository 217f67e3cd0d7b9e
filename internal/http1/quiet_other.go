//go:build !unix

package http1

import "net"

// probe cannot look into a socket here. A request on a connection that was closed
// meanwhile fails.
type probe struct{}

func newProbe(net.Conn) probe { return probe{} }

func (probe) quiet() bool { return true }
