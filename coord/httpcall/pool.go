package httpcall

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// idle is how long an unused connection is kept: less than the 5 s after which many
// servers (Node's, Apache) close it, for a call sent just then is lost.
const idle = 4 * time.Second

// pool is the http.RoundTripper of http targets. It writes and reads in the goroutine
// of the call. http.Transport has two more goroutines for each connection, so that
// it can do what no call needs, such as reading while it writes, and every call costs
// it about twice as much time of the processor.
type pool struct {
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	perHost int

	mu     sync.Mutex
	idle   map[string][]*conn // by address; the last one used comes last
	reaper *time.Timer        // set while anything is idle
}

func (o Options) newPool() *pool {
	return &pool{
		dial:    o.Allow.Dialer("http", o.DialTimeout).Dial,
		perHost: o.PerHost,
		idle:    make(map[string][]*conn),
	}
}

// RoundTrip implements http.RoundTripper. It sends a request once or not at all.
func (p *pool) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	c, err := p.get(ctx, address(r.URL))
	if err != nil {
		return nil, err
	}
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: c.Conn})
	}
	reply, err := c.exchange(ctx, r)
	if err != nil {
		c.Close()
		return nil, err
	}
	return reply, nil
}

// address is what to dial.
func address(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return strings.TrimSuffix(u.Host, ":") + ":80"
}

// get returns a connection that was idle, or a new one.
func (p *pool) get(ctx context.Context, address string) (*conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for c := p.pop(address); c != nil; c = p.pop(address) {
		if c.fresh() {
			return c, nil
		}
		c.Close()
	}
	raw, err := p.dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, pool: p, address: address, out: bufio.NewWriter(raw)}
	c.in = bufio.NewReader(c)
	return c, nil
}

func (p *pool) pop(address string) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.idle[address]
	if len(all) == 0 {
		return nil
	}
	last := len(all) - 1
	c := all[last]
	all[last] = nil
	p.idle[address] = all[:last]
	return c
}

// put keeps a connection for the next call.
func (p *pool) put(c *conn) {
	c.since = time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle[c.address]) >= p.perHost {
		c.Close()
		return
	}
	p.idle[c.address] = append(p.idle[c.address], c)
	if p.reaper == nil {
		p.reaper = time.AfterFunc(idle, p.reap)
	}
}

// reap closes what has been idle for too long, and comes back while there is more.
func (p *pool) reap() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for address, all := range p.idle {
		old := 0
		for old < len(all) && all[old].stale() {
			all[old].Close()
			old++
		}
		p.idle[address] = slices.Delete(all, 0, old)
		if len(p.idle[address]) == 0 {
			delete(p.idle, address)
		}
	}
	p.reaper = nil
	if len(p.idle) > 0 {
		p.reaper = time.AfterFunc(idle, p.reap)
	}
}

// CloseIdleConnections closes what no call uses.
func (p *pool) CloseIdleConnections() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, all := range p.idle {
		for _, c := range all {
			c.Close()
		}
	}
	clear(p.idle)
	if p.reaper != nil {
		p.reaper.Stop()
		p.reaper = nil
	}
}
