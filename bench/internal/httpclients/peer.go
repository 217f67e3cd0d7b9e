package httpclients

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// peer is a server that does what servers should not, and knows what it was sent.
type peer struct {
	listener    net.Listener
	connections atomic.Int64
	requests    atomic.Int64
	over        chan struct{} // closed when the examination is over
	running     sync.WaitGroup
}

// newPeer starts a server that handles each connection with a function; number is 1
// for the first.
func newPeer(handle func(p *peer, c *link, number int64)) (*peer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed by close
	if err != nil {
		return nil, fmt.Errorf("start a peer: %w", err)
	}
	p := &peer{listener: listener, over: make(chan struct{})}
	p.running.Go(func() { p.acceptAll(handle) })
	return p, nil
}

func (p *peer) acceptAll(handle func(p *peer, c *link, number int64)) {
	for {
		raw, err := p.listener.Accept()
		if err != nil {
			return
		}
		number := p.connections.Add(1)
		p.running.Go(func() {
			c := &link{Conn: raw, in: bufio.NewReader(raw), peer: p}
			defer c.Close()
			go func() { <-p.over; c.Close() }()
			handle(p, c, number)
		})
	}
}

func (p *peer) close() {
	close(p.over)
	p.listener.Close()
	p.running.Wait()
}

// link is a connection to a client.
type link struct {
	net.Conn
	in   *bufio.Reader
	peer *peer
}

// receiveRequest reads a request; false when there is none any more.
func (c *link) receiveRequest() bool {
	r, err := http.ReadRequest(c.in)
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, r.Body)
	c.peer.requests.Add(1)
	return true
}

// say writes a text; false when that is not possible any more.
func (c *link) say(text string) bool {
	_, err := io.WriteString(c, text)
	return err == nil
}

// answerAll gives every request one answer.
func (c *link) answerAll(text string) {
	for c.receiveRequest() && c.say(text) {
	}
}

const fine = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine"
