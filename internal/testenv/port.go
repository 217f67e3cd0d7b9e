package testenv

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

const (
	// Ports are taken from below the range the system hands out by itself, so
	// that no outgoing connection sits on the port of a server being restarted.
	firstPort = 11000
	lastPort  = 21999
	// busOffset is where Redis Cluster puts the bus of a node, counted from its
	// port. Every server gets both, so that any of them may join a cluster.
	busOffset = 10000
)

// port is a TCP port reserved for one server until release is called.
//
// The reservation is a UDP socket on the same number: the server itself uses
// TCP only, the number stays ours while the server is down, other test binaries
// see it, and the kernel frees it when this process dies.
type port struct {
	number int
	holds  []net.PacketConn
}

// reservePort finds a port nobody uses.
func reservePort() (*port, error) {
	for range 200 {
		number := firstPort + rand.IntN(lastPort-firstPort+1)
		if p, err := holdPort(number); err == nil {
			return p, nil
		}
	}
	return nil, errors.New("reserve port: no free port found")
}

// holdPort reserves number and the bus port above it.
func holdPort(number int) (*port, error) {
	p := &port{number: number}
	for _, n := range []int{number, number + busOffset} {
		hold, err := holdUDP(n)
		if err != nil {
			p.release()
			return nil, err
		}
		p.holds = append(p.holds, hold)
	}
	return p, nil
}

// holdUDP takes the UDP side of a port whose TCP side is free.
func holdUDP(number int) (net.PacketConn, error) {
	conn, err := net.ListenPacket("udp4", loopback(number))
	if err != nil {
		return nil, fmt.Errorf("hold port %d: %w", number, err)
	}
	probe, err := net.Listen("tcp4", loopback(number))
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("hold port %d: %w", number, err)
	}
	_ = probe.Close()
	return conn, nil
}

// release gives the port back.
func (p *port) release() {
	for _, hold := range p.holds {
		_ = hold.Close()
	}
}

// loopback is the address of a port on this machine.
func loopback(number int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(number))
}
