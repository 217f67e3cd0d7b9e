package server_test

import (
	"bufio"
	"context"
	bits "encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// watching opens a stream over HTTP/1.1 of what becomes of a transaction.
func (p *pipes) watching(id string) (ours net.Conn, closed <-chan struct{}) {
	ours, far := net.Pipe()
	theirs := &cut{Conn: far, done: make(chan struct{})}
	p.conns <- theirs
	message := `{"id": "` + id + `"}`
	frame := bits.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))
	frame = append(frame, message...)
	_, _ = io.WriteString(ours, "POST "+transactions+"Watch HTTP/1.1\r\nHost: localhost\r\n"+
		"Content-Type: application/connect+json\r\nConnect-Protocol-Version: 1\r\nTransfer-Encoding: chunked\r\n\r\n")
	_, _ = fmt.Fprintf(ours, "%x\r\n%s\r\n0\r\n\r\n", len(frame), frame)
	return ours, theirs.done
}

// TestAStreamsEndNobodyTakesKeepsItsConnection: whoever takes a stream's messages and not its end, or
// nothing at all of a stream that is refused, would keep a connection and a goroutine for ever.
func TestAStreamsEndNobodyTakesKeepsItsConnection(t *testing.T) {
	for name, id := range map[string]string{"of nobody": "nobody", "of a final one": "final"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				co, err := coord.New(memstore.New(nil), nil)
				if err != nil {
					t.Fatal(err)
				}
				for name, f := range functions() {
					_ = co.Register(name, f)
				}
				if err := co.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				if _, err := co.Run(t.Context(), txn.Definition{
					ID: "final", Mode: "saga", Branches: []txn.Branch{{ID: "a", Do: "echo"}},
				}); err != nil {
					t.Fatal(err)
				}
				h, err := server.New(server.Services{Coordinator: co, Inspector: co}, &server.Options{
					Limits: &server.Limits{Streams: 1, StreamsEach: 1, Wait: time.Second, Slow: time.Second},
				})
				if err != nil {
					t.Fatal(err)
				}
				network := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
				ctx, cancel := context.WithCancel(context.Background())
				served := make(chan error, 1)
				go func() { served <- server.Serve(ctx, network, h, nil) }()
				conn, closed := network.watching(id)
				if id == "final" { // takes the head and the first message, and nothing more
					replies := bufio.NewReaderSize(conn, 16)
					answer, err := http.ReadResponse(replies, nil)
					if err != nil {
						t.Fatal(err)
					}
					head := make([]byte, 5)
					if _, err := io.ReadFull(answer.Body, head); err != nil {
						t.Fatal(err)
					}
					if _, err := io.CopyN(io.Discard, answer.Body, int64(bits.BigEndian.Uint32(head[1:]))); err != nil {
						t.Fatal(err)
					}
					if _, err := replies.Discard(2); err != nil { // the end of the chunk
						t.Fatal(err)
					}
				}
				select {
				case <-closed:
				case <-time.After(10 * time.Minute):
					t.Error("ten minutes later the client, which takes nothing, still has its connection")
				}
				_ = conn.Close()
				cancel()
				if err := <-served; err != nil {
					t.Error(err)
				}
				_ = co.Stop(context.Background())
			})
		})
	}
}

// TestAProbeNobodyTakesStaysForEver: anybody may ask whether the server lives, without a token
// and beyond all limits; who does not take the answer keeps a connection and a goroutine for ever.
func TestAProbeNobodyTakesStaysForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, err := server.New(server.Services{Locks: verbose{}}, &server.Options{
			Limits: &server.Limits{Wait: time.Second, Slow: time.Second},
		})
		if err != nil {
			t.Fatal(err)
		}
		network := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		ctx, cancel := context.WithCancel(context.Background())
		served := make(chan error, 1)
		go func() { served <- server.Serve(ctx, network, h, nil) }()
		ours, far := net.Pipe()
		theirs := &cut{Conn: far, done: make(chan struct{})}
		network.conns <- theirs
		_, _ = io.WriteString(ours, "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
		select {
		case <-theirs.done:
		case <-time.After(24 * time.Hour):
			t.Error("a day later the client, which takes nothing, is still there")
		}
		_ = ours.Close()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}
