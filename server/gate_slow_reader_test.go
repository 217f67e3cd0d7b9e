package server_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/server"
)

// verbose is a store that has much to tell of a lock.
type verbose struct{ driver.Backend }

func (verbose) Inspect(_ context.Context, name string) (driver.Info, error) {
	return driver.Info{
		Name: name, Token: 1, Holders: []driver.Holder{
			{Owner: "o", TTL: time.Minute, Meta: strings.Repeat("x", 64<<10)},
		},
	}, nil
}

func (verbose) List(context.Context, string, int) ([]driver.Info, error) { return nil, nil }

// pipes is a network in memory, without any buffers.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

// cut is a connection that tells when the server has closed it.
type cut struct {
	net.Conn
	done chan struct{}
	once sync.Once
}

func (c *cut) Close() error {
	c.once.Do(func() { close(c.done) })
	return c.Conn.Close()
}

// ask sends a request over a connection of its own, and tells when the server has closed
// that.
func (p *pipes) ask() (ours net.Conn, closed <-chan struct{}) {
	ours, far := net.Pipe()
	theirs := &cut{Conn: far, done: make(chan struct{})}
	p.conns <- theirs
	_, _ = io.WriteString(ours,
		"POST "+locks+"Inspect HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
			"Content-Length: 13\r\n\r\n{\"name\": \"a\"}")
	return ours, theirs.done
}

// TestAnAnswerNobodyTakesGivesItsPlaceBack: clients that ask and do not read would shut
// everybody out otherwise.
func TestAnAnswerNobodyTakesGivesItsPlaceBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, err := server.New(server.Services{Locks: verbose{}}, &server.Options{
			Limits: &server.Limits{Requests: 1, Wait: time.Second, Slow: time.Second},
		})
		if err != nil {
			t.Fatal(err)
		}
		network := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		ctx, cancel := context.WithCancel(context.Background())
		served := make(chan error, 1)
		go func() { served <- server.Serve(ctx, network, h, nil) }()
		idle, closed := network.ask() // and nobody reads
		select {
		case <-closed:
		case <-time.After(time.Minute):
			t.Error("a minute later the client is still there")
		}
		synctest.Wait() // the connection is closed first, and then the place given back
		conn, _ := network.ask()
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("after that: %v, %v", answer, err)
		}
		_, _ = conn.Close(), idle.Close()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}
