package sqltest

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"
)

// freezer stands between a store and its server. Once asked to, it freezes the
// client of the first connection on which a word is sent: when what has that word
// is answered, it neither sends nor reads any more, until it is thawed.
type freezer struct {
	target   string
	listener net.Listener
	running  sync.WaitGroup

	mu   sync.Mutex
	word []byte
	next *frost
}

// frost is what a client is frozen by.
type frost struct {
	set    chan struct{} // closed when the client is frozen
	thawed chan struct{} // closed by the test
}

// newFreezer starts one in front of a server, for as long as the test lasts. The
// stores that use it must have been closed before.
func newFreezer(t testing.TB, target string) *freezer {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &freezer{target: target, listener: listener}
	f.running.Go(func() { f.acceptAll(t.Context()) })
	t.Cleanup(func() {
		listener.Close()
		f.running.Wait()
	})
	return f
}

// addr is where clients connect.
func (f *freezer) addr() string { return f.listener.Addr().String() }

// freezeAt freezes the next client that sends the word.
func (f *freezer) freezeAt(word string) *frost {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.word = []byte(word)
	f.next = &frost{set: make(chan struct{}), thawed: make(chan struct{})}
	return f.next
}

// freezes returns the frost if a client is to be frozen behind this chunk.
func (f *freezer) freezes(chunk []byte) *frost {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.word == nil || !bytes.Contains(chunk, f.word) {
		return nil
	}
	f.word = nil
	return f.next
}

func (f *freezer) acceptAll(ctx context.Context) {
	for {
		client, err := f.listener.Accept()
		if err != nil {
			return
		}
		f.running.Go(func() { f.forwardConn(ctx, client) })
	}
}

// forwardConn forwards one connection until either side ends it.
func (f *freezer) forwardConn(ctx context.Context, client net.Conn) {
	defer client.Close()
	server, err := (&net.Dialer{}).DialContext(ctx, "tcp", f.target)
	if err != nil {
		return
	}
	defer server.Close()
	asked := make(chan *frost, 1)
	var replies sync.WaitGroup
	replies.Go(func() {
		defer client.Close()
		forwardReplies(client, server, asked)
	})
	f.forwardRequests(server, client, asked)
	server.Close()
	replies.Wait()
}

// forwardRequests passes on what the client sends, unless it is frozen.
func (f *freezer) forwardRequests(server, client net.Conn, asked chan<- *frost) {
	buf := make([]byte, 32<<10)
	var last *frost
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		if last != nil {
			<-last.thawed
		}
		if next := f.freezes(buf[:n]); next != nil {
			last = next
			asked <- next // before it can be answered
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// forwardReplies passes on what the server says, unless the client is frozen. What it
// does not read then fills the buffers in between.
func forwardReplies(client, server net.Conn, asked <-chan *frost) {
	buf := make([]byte, 32<<10)
	for {
		n, err := server.Read(buf)
		if err != nil {
			return
		}
		if _, err := client.Write(buf[:n]); err != nil {
			return
		}
		select {
		case frost := <-asked:
			close(frost.set)
			<-frost.thawed
		default:
		}
	}
}
