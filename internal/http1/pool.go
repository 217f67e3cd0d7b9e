package http1

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options say how a Pool keeps connections. There are no defaults.
type Options struct {
	// Dial makes a connection.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// PerHost is how many idle connections to one address are kept.
	PerHost int
	// Idle is how long an unused connection is kept.
	Idle time.Duration
}

// Pool makes requests over connections that it keeps. It is safe for concurrent use.
type Pool struct {
	opts     Options
	messages sync.Pool // of *bytes.Buffer, each for a request

	mu     sync.Mutex
	idle   map[string][]*conn // by address; the last one used comes last
	reaper *time.Timer        // set while anything is idle
}

// New makes a Pool. Close its idle connections when it is not needed any more.
func New(o Options) *Pool {
	return &Pool{
		opts:     o,
		messages: sync.Pool{New: func() any { return new(bytes.Buffer) }},
		idle:     make(map[string][]*conn),
	}
}

// Address is where the server of a URL listens.
func Address(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return strings.TrimSuffix(u.Host, ":") + ":80"
}

// exchange makes a request over the first connection that takes it. rest is what
// follows the message; r is nil for a POST.
func (p *Pool) exchange(ctx context.Context, address string, message, rest []byte, r *http.Request) (*Reply, error) {
	for {
		c, err := p.get(ctx, address)
		if err != nil {
			return nil, &UnsentError{err}
		}
		reply, err := c.exchange(ctx, message, rest, r)
		if err == nil {
			return reply, nil
		}
		c.Close()
		if _, unsent := errors.AsType[*UnsentError](err); !unsent || !c.used {
			return nil, err
		}
	}
}

// get returns a connection that was idle, or a new one.
func (p *Pool) get(ctx context.Context, address string) (*conn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for c := p.pop(address); c != nil; c = p.pop(address) {
		if !c.isIdleTooLong() && c.quiet() {
			return c, nil
		}
		c.Close()
	}
	raw, err := p.opts.Dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return newConn(raw, p, address), nil
}

func (p *Pool) pop(address string) *conn {
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

// addIdle keeps a connection for the next request.
func (p *Pool) addIdle(c *conn) {
	c.used, c.since = true, time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle[c.address]) >= p.opts.PerHost {
		c.Close()
		return
	}
	p.idle[c.address] = append(p.idle[c.address], c)
	if p.reaper == nil {
		p.reaper = time.AfterFunc(p.opts.Idle, p.reap)
	}
}

// reap closes what has been idle for too long, and comes back while there is more.
func (p *Pool) reap() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for address, all := range p.idle {
		old := 0
		for old < len(all) && all[old].isIdleTooLong() {
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
		p.reaper = time.AfterFunc(p.opts.Idle, p.reap)
	}
}

// CloseIdleConnections closes what no request uses.
func (p *Pool) CloseIdleConnections() {
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
