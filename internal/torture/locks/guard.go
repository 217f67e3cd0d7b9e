package locks

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"sync"
)

// guard is a resource that remembers the highest token it has seen of each lock, and
// refuses lower ones: what a lock protects should be like this.
type guard struct {
	listener net.Listener
	running  sync.WaitGroup

	mu       sync.Mutex
	highest  map[string]uint64
	accepted int
	open     map[net.Conn]struct{}
}

// visit is a write to the guarded resource.
type visit struct {
	Name  string `json:"n"`
	Token uint64 `json:"t"`
}

func newGuard() (*guard, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	g := &guard{listener: l, highest: map[string]uint64{}, open: map[net.Conn]struct{}{}}
	g.running.Go(g.acceptAll)
	return g, nil
}

func (g *guard) addr() string { return g.listener.Addr().String() }

func (g *guard) acceptAll() {
	for {
		conn, err := g.listener.Accept()
		if err != nil {
			return
		}
		g.mu.Lock()
		g.open[conn] = struct{}{}
		g.mu.Unlock()
		g.running.Go(func() { g.answerVisits(conn) })
	}
}

func (g *guard) answerVisits(conn net.Conn) {
	defer func() {
		g.mu.Lock()
		delete(g.open, conn)
		g.mu.Unlock()
		_ = conn.Close()
	}()
	in, out := json.NewDecoder(conn), json.NewEncoder(conn)
	for {
		var v visit
		if in.Decode(&v) != nil || out.Encode(g.admitVisit(v)) != nil {
			return
		}
	}
}

// admitVisit reports whether a write is let through.
func (g *guard) admitVisit(v visit) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if v.Token < g.highest[v.Name] {
		return false
	}
	g.highest[v.Name] = v.Token
	g.accepted++
	return true
}

func (g *guard) writes() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.accepted
}

func (g *guard) close() {
	_ = g.listener.Close()
	g.mu.Lock()
	for conn := range g.open {
		_ = conn.Close()
	}
	g.mu.Unlock()
	g.running.Wait()
}

// visitor writes to the guarded resource, on a connection of its own.
type visitor struct {
	conn net.Conn
	in   *json.Decoder
	out  *json.Encoder
}

func newVisitor(addr string) (*visitor, error) {
	conn, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	return &visitor{conn: conn, in: json.NewDecoder(bufio.NewReader(conn)), out: json.NewEncoder(conn)}, nil
}

// write reports whether the resource has let the token through.
func (v *visitor) write(name string, token uint64) (accepted bool, err error) {
	if err := v.out.Encode(visit{name, token}); err != nil {
		return false, err
	}
	err = v.in.Decode(&accepted)
	return accepted, err
}
