package httpcall_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/coord/httpcall"
	"github.com/bedrock-go/bedrock/txn"
)

// rawServer speaks TCP and counts the requests it was sent.
type rawServer struct {
	target   txn.Target
	requests atomic.Int64
}

// raw starts a participant that answers every request as it likes; the connection
// is closed when answer returns false.
func raw(t *testing.T, answer func(c net.Conn, number int64) bool) *rawServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &rawServer{target: txn.Target("http://" + l.Addr().String() + "/")}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { s.serve(c, answer) })
		}
	})
	t.Cleanup(func() { l.Close(); running.Wait() })
	return s
}

func (s *rawServer) serve(c net.Conn, answer func(net.Conn, int64) bool) {
	defer c.Close()
	r := bufio.NewReader(c)
	for {
		request, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, request.Body)
		if !answer(c, s.requests.Add(1)) {
			return
		}
	}
}

// say answers with a fixed text.
func say(text string, stay bool) func(net.Conn, int64) bool {
	return func(c net.Conn, _ int64) bool {
		_, err := io.WriteString(c, text)
		return stay && err == nil
	}
}

// hang answers with a text and then with nothing until the caller gives up.
func hang(text string) func(net.Conn, int64) bool {
	return func(c net.Conn, _ int64) bool {
		_, _ = io.WriteString(c, text)
		_, _ = io.Copy(io.Discard, c)
		return false
	}
}

func reset(c net.Conn, _ int64) bool {
	_ = c.(*net.TCPConn).SetLinger(0)
	return false
}

// flood sends more than anybody wants.
func flood(head, piece string) func(net.Conn, int64) bool {
	data := []byte(piece)
	return func(c net.Conn, _ int64) bool {
		_, err := io.WriteString(c, head)
		for sent := 0; sent < 100<<20 && err == nil; sent += len(data) {
			_, err = c.Write(data)
		}
		return false
	}
}

// shortly is how long a call may take here.
func shortly(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestHostileParticipants(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	megabyte := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct {
		answer  func(net.Conn, int64) bool
		timeout time.Duration
		want    txn.AnswerKind
		note    string
		down    bool
	}{
		"hangs": {
			hang(""), time.Second, txn.AnswerFailed, "no valid answer: context deadline exceeded", true,
		},
		"hangs in headers": {
			hang(ok + "A: b"), time.Second, txn.AnswerFailed, "no valid answer: context deadline exceeded", true,
		},
		"hangs in body": {
			hang(ok + "Content-Length: 9\r\n\r\nabc"), time.Second, txn.AnswerFailed, "broke off after 3 bytes", false,
		},
		"hangs in refusal": {
			hang("HTTP/1.1 409 No\r\nContent-Length: 9\r\n\r\nno money"), time.Second, txn.AnswerRefused, "no money",
			false,
		},
		"hangs up": {say("", false), 5 * time.Second, txn.AnswerFailed, "EOF", false},
		"resets":   {reset, 5 * time.Second, txn.AnswerFailed, "no valid answer: ", false},
		"closes half-way": {
			say(ok+"Content-Length: 9\r\n\r\nabc", false), 5 * time.Second, txn.AnswerFailed, "broke off after 3 bytes",
			false,
		},
		"closes in a chunk": {
			say(ok+"Transfer-Encoding: chunked\r\n\r\n9\r\nabc", false), 5 * time.Second, txn.AnswerFailed,
			"broke off after 3 bytes", false,
		},
		"talks nonsense": {
			say("SSH-2.0-OpenSSH_9.9\r\n", false), 5 * time.Second, txn.AnswerFailed, "malformed", false,
		},
		"upgrades": {
			say("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", true), 5 * time.Second,
			txn.AnswerFailed, "101", false,
		},
		"lies about length": {
			say(ok+"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", false), 5 * time.Second, txn.AnswerFailed,
			"Content-Length", false,
		},
		"sends 100 MB": {
			flood(ok+"Content-Length: 104857600\r\n\r\n", megabyte), 5 * time.Second, txn.AnswerDone,
			"dropped: more than 1048576 bytes", false,
		},
		"chunks 100 MB": {
			flood(ok+"Transfer-Encoding: chunked\r\n\r\n", "100000\r\n"+megabyte+"\r\n"), 5 * time.Second,
			txn.AnswerDone, "dropped", false,
		},
		"sends for ever": {flood(ok+"\r\n", megabyte), 5 * time.Second, txn.AnswerDone, "dropped", false},
		"fails with 100 MB": {
			flood("HTTP/1.1 500 No\r\nContent-Length: 104857600\r\n\r\n", megabyte), 5 * time.Second, txn.AnswerFailed,
			"500 Internal Server Error: xxx", false,
		},
		"100 MB of headers": {
			flood(ok, "A: "+megabyte+"\r\n"), 5 * time.Second, txn.AnswerFailed, "exceeded 65536 bytes", false,
		},
		"100 MB of 103": {
			flood("", "HTTP/1.1 103 Early Hints\r\nLink: "+strings.Repeat("x", 1<<10)+"\r\n\r\n"), 5 * time.Second,
			txn.AnswerFailed, "exceeded", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := raw(t, c.answer)
			got := caller(t, nil).Call(shortly(t, c.timeout), s.target, call())
			if got.Kind != c.want || !strings.Contains(got.Note, c.note) || got.Down != c.down || got.Result != nil {
				t.Errorf("%+v, want %s, %q, down %v", got, c.want, c.note, c.down)
			}
			if len(got.Note) > 256 {
				t.Error("long note:", len(got.Note))
			}
			if n := s.requests.Load(); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// What a long result costs: the limit if its length comes as a surprise, else nothing.
func TestHundredMegabytesCostLittle(t *testing.T) {
	megabyte := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct {
		answer func(net.Conn, int64) bool
		most   uint64
	}{
		"announced": {flood("HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n", megabyte), 1 << 20},
		"chunked": {
			flood("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "100000\r\n"+megabyte+"\r\n"), 16 << 20,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := raw(t, c.answer)
			caller := caller(t, nil)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			answer := caller.Call(t.Context(), s.target, call())
			runtime.ReadMemStats(&after)
			if answer.Kind != txn.AnswerDone || answer.Result != nil {
				t.Error(answer)
			}
			if spent := after.TotalAlloc - before.TotalAlloc; spent > c.most {
				t.Errorf("%d bytes allocated", spent)
			}
		})
	}
}

func TestTheLimitIsExact(t *testing.T) {
	c := caller(t, &httpcall.Options{MaxResult: 1000})
	for _, chunked := range []bool{false, true} {
		for size, want := range map[int]int{999: 999, 1000: 1000, 1001: 0} {
			target := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if chunked {
					w.(http.Flusher).Flush()
				}
				_, _ = io.WriteString(w, strings.Repeat("x", size))
			})
			if got := c.Call(t.Context(), target, call()); got.Kind != txn.AnswerDone || len(got.Result) != want {
				t.Errorf("chunked %v, %d bytes: %s with %d", chunked, size, got.Kind, len(got.Result))
			}
		}
	}
}

// TestAResultThatIsOnlyAnnouncedTakesMemory: what a participant says of its length is no
// result yet.
func TestAResultThatIsOnlyAnnouncedTakesMemory(t *testing.T) {
	target := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(1<<30))
		_, _ = io.WriteString(w, "x")
	})
	c := caller(t, &httpcall.Options{MaxResult: 1 << 30})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	answer := c.Call(t.Context(), target, call())
	runtime.ReadMemStats(&after)
	if answer.Kind != txn.AnswerFailed || !strings.Contains(answer.Note, "broke off") {
		t.Error(answer)
	}
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 1<<20 {
		t.Errorf("%d bytes allocated", spent)
	}
}

// TestCallsThatBreakOffAlikeAreToldApart by the port that each had on our side, and push all
// else out of a transaction's history.
func TestCallsThatBreakOffAlikeAreToldApart(t *testing.T) {
	participant, c := raw(t, hang("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")), caller(t, nil)
	const enough = 200 * time.Millisecond
	first := c.Call(shortly(t, enough), participant.target, call())
	again := c.Call(shortly(t, enough), participant.target, call())
	there := strings.Trim(strings.TrimPrefix(string(participant.target), "http:"), "/")
	if diff := cmp.Diff(first, again); diff != "" || !strings.Contains(first.Note, " "+there+": ") {
		t.Errorf("%+v is not about %s, or the next is another: %s", first, there, diff)
	}
}

// A transport would send the request again over every connection it has left.
func TestAParticipantThatHangsUpIsAskedOnce(t *testing.T) {
	const connections = 8
	together := make(chan struct{})
	s := raw(t, func(c net.Conn, number int64) bool {
		if number > connections {
			return false
		}
		if number == connections {
			close(together)
		}
		<-together // so that every call has a connection of its own
		return say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true)(c, number)
	})
	c := caller(t, nil)
	var calls sync.WaitGroup
	for range connections {
		calls.Go(func() {
			if got := c.Call(t.Context(), s.target, call()); got.Kind != txn.AnswerDone {
				t.Error(got)
			}
		})
	}
	calls.Wait()
	for _, payload := range []string{"", "{}"} {
		before := s.requests.Load()
		one := call()
		one.Payload = []byte(payload)
		if got := c.Call(t.Context(), s.target, one); got.Kind != txn.AnswerFailed {
			t.Errorf("payload %q: %+v", payload, got)
		}
		if n := s.requests.Load() - before; n != 1 {
			t.Errorf("payload %q: asked %d times", payload, n)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	var trapped atomic.Int64
	trap := serve(t, func(http.ResponseWriter, *http.Request) { trapped.Add(1) })
	for _, status := range []int{300, 301, 302, 303, 307, 308} {
		redirect := func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, string(trap), status) }
		s, config := serveTLS(t, redirect)
		c := caller(t, &httpcall.Options{TLS: config})
		for _, target := range []txn.Target{serve(t, redirect), txn.Target(s.URL)} {
			if got := c.Call(t.Context(), target, call()); got.Kind != txn.AnswerFailed ||
				!strings.Contains(got.Note, "redirect") {
				t.Error(target, got)
			}
		}
	}
	if trapped.Load() != 0 {
		t.Error("followed")
	}
}

// refusing is a target where nobody listens.
func refusing(t *testing.T) txn.Target {
	t.Helper()
	s := httptest.NewServer(nil)
	s.Close()
	return txn.Target(s.URL)
}

func TestUnreached(t *testing.T) {
	canceled, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the coordinator stops"))
	over, cancelOver := context.WithTimeout(t.Context(), -1)
	defer cancelOver()
	idle := serve(t, func(http.ResponseWriter, *http.Request) {})
	for name, c := range map[string]struct {
		ctx    func() context.Context
		target txn.Target
		want   txn.Answer
	}{
		"nobody listens": {
			t.Context, refusing(t), txn.Answer{
				Kind: txn.AnswerUnreached, Note: "connect: connection refused", Down: true,
			},
		},
		"over": {
			func() context.Context { return over }, idle,
			txn.Answer{Kind: txn.AnswerUnreached, Note: "context deadline exceeded", Down: true},
		},
		"canceled": {
			func() context.Context { return canceled }, idle,
			txn.Answer{Kind: txn.AnswerUnreached, Note: "the coordinator stops"},
		},
		"denied": {t.Context, "http://169.254.169.254/", txn.Answer{Kind: txn.AnswerUnreached, Note: "metadata"}},
		"no URL": {t.Context, "stock.deduct", txn.Answer{Kind: txn.AnswerUnreached, Note: "scheme"}},
		"gRPC":   {t.Context, "grpc://127.0.0.1:1/s/m", txn.Answer{Kind: txn.AnswerUnreached, Note: "scheme"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := caller(t, nil).Call(c.ctx(), c.target, call())
			if !strings.Contains(got.Note, c.want.Note) {
				t.Errorf("note %q, want %q", got.Note, c.want.Note)
			}
			got.Note = c.want.Note
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
