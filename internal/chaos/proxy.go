package chaos

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Direction selects the bytes a black hole swallows.
type Direction uint8

// The directions of traffic.
const (
	Requests Direction = 1 << iota // from client to server
	Replies                        // from server to client
	Both     = Requests | Replies
)

// Proxy forwards connections made to Addr to one server, faultlessly until told
// otherwise. It is safe for concurrent use.
type Proxy struct {
	listener net.Listener
	done     chan struct{} // closed by Close
	closing  sync.Once
	running  sync.WaitGroup

	mu     sync.Mutex
	target string
	fault  fault
	seen   Evidence
	links  map[*link]struct{}
}

// Evidence counts what faults did.
type Evidence struct {
	Accepted       int   // connections forwarded
	Refused        int   // connections closed at once while cut
	Cut            int   // connections closed by a fault
	RepliesLost    int   // replies swallowed after their request was forwarded
	BytesSwallowed int64 // bytes that never arrived
	Delayed        int   // chunks that were held up
}

// New starts a proxy in front of target, a host:port on loopback.
func New(target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	p := &Proxy{
		target:   target,
		listener: listener,
		done:     make(chan struct{}),
		links:    map[*link]struct{}{},
	}
	p.running.Go(p.acceptAll)
	return p, nil
}

// Addr is where clients connect.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Evidence tells what faults have done so far.
func (p *Proxy) Evidence() Evidence {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen
}

// Close ends the proxy and all connections, and waits for its goroutines.
func (p *Proxy) Close() error {
	p.closing.Do(func() { close(p.done) })
	err := p.listener.Close()
	for _, l := range p.open() {
		l.closeBoth()
	}
	p.running.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// acceptAll takes connections until the listener is closed.
func (p *Proxy) acceptAll() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		if p.refuses() {
			reset(client)
			continue
		}
		p.running.Go(func() { p.forwardConn(client) })
	}
}

func (p *Proxy) destination() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.target
}

// refuses reports whether a new connection falls to a cut.
func (p *Proxy) refuses() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault.cut {
		p.seen.Refused++
	}
	return p.fault.cut
}

// forwardConn forwards one connection until either side ends it.
func (p *Proxy) forwardConn(client net.Conn) {
	server, err := net.DialTimeout("tcp", p.destination(), time.Second)
	if err != nil {
		reset(client)
		return
	}
	l := &link{proxy: p, client: client, server: server}
	defer l.closeBoth()
	if !p.add(l) {
		return
	}
	defer p.remove(l)
	var pumps sync.WaitGroup
	pumps.Go(l.pumpRequests)
	pumps.Go(l.pumpReplies)
	pumps.Wait()
}

// add lists a connection, unless the proxy was cut or closed meanwhile.
func (p *Proxy) add(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
		return false
	default:
	}
	if p.fault.cut {
		p.seen.Refused++
		return false
	}
	p.seen.Accepted++
	p.links[l] = struct{}{}
	return true
}

func (p *Proxy) remove(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// open lists the connections open now.
func (p *Proxy) open() []*link {
	p.mu.Lock()
	defer p.mu.Unlock()
	links := make([]*link, 0, len(p.links))
	for l := range p.links {
		links = append(links, l)
	}
	return links
}

// reset closes a connection so that the peer sees an error, not a polite end.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
