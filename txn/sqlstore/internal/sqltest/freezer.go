package sqltest

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"
)

// Freezer stands between a store and its server. Once asked to, it freezes the
// client of the first connection on which a word is sent: what has that word
// arrives and is answered, and then the server hears nothing more.
type Freezer struct {
	target   string
	listener net.Listener
	running  sync.WaitGroup

	mu     sync.Mutex
	word   []byte
	frozen chan struct{} // closed when what has the word is answered
}

// NewFreezer starts one in front of a server, for as long as the test lasts. The
// stores that use it must have been closed before.
func NewFreezer(t testing.TB, target string) *Freezer {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &Freezer{target: target, listener: listener}
	f.running.Go(func() { f.accept(t.Context()) })
	t.Cleanup(func() {
		listener.Close()
		f.running.Wait()
	})
	return f
}

// Addr is where clients connect.
func (f *Freezer) Addr() string { return f.listener.Addr().String() }

// freezeAt returns what is closed when what has the word is answered.
func (f *Freezer) freezeAt(word string) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.word, f.frozen = []byte(word), make(chan struct{})
	return f.frozen
}

// freezes returns the channel if a client is to be frozen behind this chunk.
func (f *Freezer) freezes(chunk []byte) chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.word == nil || !bytes.Contains(chunk, f.word) {
		return nil
	}
	f.word = nil
	return f.frozen
}

func (f *Freezer) accept(ctx context.Context) {
	for {
		client, err := f.listener.Accept()
		if err != nil {
			return
		}
		f.running.Go(func() { f.serve(ctx, client) })
	}
}

// serve forwards one connection until either side ends it.
func (f *Freezer) serve(ctx context.Context, client net.Conn) {
	defer client.Close()
	server, err := (&net.Dialer{}).DialContext(ctx, "tcp", f.target)
	if err != nil {
		return
	}
	defer server.Close()
	asked := make(chan chan struct{}, 1)
	var replies sync.WaitGroup
	replies.Go(func() {
		defer client.Close()
		answer(client, server, asked)
	})
	f.ask(server, client, asked)
	server.Close()
	replies.Wait()
}

// ask passes on what the client sends. What a frozen one would have sent is read,
// so that its end is noticed.
func (f *Freezer) ask(server, client net.Conn, asked chan<- chan struct{}) {
	buf := make([]byte, 32<<10)
	for frozen := false; ; {
		n, err := client.Read(buf)
		if n > 0 && !frozen {
			if last := f.freezes(buf[:n]); last != nil {
				frozen = true
				asked <- last // before it can be answered
			}
			if _, err := server.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// answer passes on what the server says, and tells when it has answered what
// freezes the client.
func answer(client, server net.Conn, asked <-chan chan struct{}) {
	buf := make([]byte, 32<<10)
	for {
		n, err := server.Read(buf)
		if err != nil {
			return
		}
		select {
		case last := <-asked:
			close(last)
		default:
		}
		if _, err := client.Write(buf[:n]); err != nil {
			return
		}
	}
}
