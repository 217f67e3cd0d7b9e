package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/server/auth"
)

func TestRateIsLimitedPerClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := setup{Services: server.Services{Locks: memlock.NewBackend(nil)}}
		c.Limits = &server.Limits{Rate: 1, Burst: 3}
		h := c.handler(t)
		ask := func(method, path, body string) answer {
			r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
			r.Host, r.RemoteAddr = "localhost", "127.0.0.1:7"
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return answer{status: w.Code, body: w.Body.String()}
		}
		inspect := func() answer { return ask(http.MethodPost, locks+"Inspect", `{"name": "a"}`) }
		for range 3 {
			inspect().want(t, 200)
		}
		inspect().want(t, 429, "resource_exhausted", "127.0.0.1",
			"3 at once (limit burst)", "1 a second for long (limit rate)")
		ask(http.MethodGet, "/healthz", "").want(t, 429)
		ask(http.MethodGet, "/livez", "").want(t, 200)
		<-time.After(time.Second)
		inspect().want(t, 200)
		inspect().want(t, 429)
	})
}

func TestRequestsAreCounted(t *testing.T) {
	c := config(t)
	c.Tokens, c.Limits = clients(t, "one", "two", "three"), &server.Limits{Requests: 2, Wait: time.Minute}
	s := serve(t, c, nil)
	look := func() answer {
		return s.post(t, locks+"Inspect", `{"name": "a"}`, "Authorization", "Bearer three")
	}
	s.post(t, locks+"Acquire", `{"name": "a"}`, "Authorization", "Bearer one").want(t, 200)
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for _, token := range []string{"one", "two"} {
		waiting.Go(func() {
			for ctx.Err() == nil { // one that comes while somebody looks is refused
				s.hang(ctx, locks+"Acquire", `{"name": "a", "wait": "60s"}`, "Authorization", "Bearer "+token)
			}
		})
	}
	eventually(t, func() bool { return look().status == 429 })
	look().want(t, 429, "2 calls are under way", "(limit requests)")
	// A server that has much to do is not restarted.
	s.send(t, http.DefaultClient, http.MethodGet, "/livez", "").want(t, 200)
	cancel()
	waiting.Wait()
	eventually(t, func() bool { return look().status == 200 })
}

// clients are those that show a token, which is their name as well.
func clients(t *testing.T, names ...string) *auth.Tokens {
	t.Helper()
	var file strings.Builder
	for _, name := range names {
		fmt.Fprintln(&file, "client", name, auth.HashToken(name))
	}
	tokens, err := auth.ParseTokens(strings.NewReader(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

// TestOneClientDoesNotTakeAllTheRoom: calls that wait keep their places for a minute, and
// others could not even renew their locks.
func TestOneClientDoesNotTakeAllTheRoom(t *testing.T) {
	c := config(t)
	c.Tokens, c.Limits = clients(t, "one", "other"), &server.Limits{Requests: 4, Wait: time.Minute}
	s := serve(t, c, nil)
	s.post(t, locks+"Acquire", `{"name": "a"}`, "Authorization", "Bearer other").want(t, 200)
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for range 8 {
		waiting.Go(func() {
			for ctx.Err() == nil {
				s.hang(ctx, locks+"Acquire", `{"name": "a", "wait": "60s"}`, "Authorization", "Bearer one")
			}
		})
	}
	one := func() answer { return s.post(t, locks+"Inspect", `{"name": "a"}`, "Authorization", "Bearer one") }
	const full = "token one has 2 calls under way, which is all one client may (half of limit requests)"
	eventually(t, func() bool { return strings.Contains(one().body, full) })
	for range 20 {
		s.post(t, locks+"Inspect", `{"name": "a"}`, "Authorization", "Bearer other").want(t, 200)
	}
	cancel()
	waiting.Wait()
}

func TestStreamsAreCounted(t *testing.T) {
	c := config(t)
	c.Limits = &server.Limits{Streams: 1}
	s := serve(t, c, nil)
	first := s.listen(t, "a")
	first.message(t)
	second := s.listen(t, "a")
	got := second.message(t)
	if !strings.Contains(got, "resource_exhausted") || !strings.Contains(got, "(limit streams") {
		t.Errorf("the second stream got %s", got)
	}
	first.close()
	s.post(t, locks+"Inspect", `{"name": "a"}`).want(t, 200) // calls are counted apart
}

// TestSlowBody sends half of a request: the server must not wait for ever, whether it
// would take the request or not.
func TestSlowBody(t *testing.T) {
	c := config(t)
	c.Limits = &server.Limits{BodyTime: 50 * time.Millisecond, Burst: 1, Rate: 1}
	for name, begin := range map[string]string{
		"taken":   "POST " + transactions + "Get",
		"unknown": "POST /nothing",
		"alive":   "GET /livez",
		"refused": "POST " + locks + "Inspect",
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, c, nil)
			if name == "refused" {
				s.post(t, transactions+"List", `{}`).want(t, 200) // the one that may be made this second
			}
			conn := s.connect(t)
			fmt.Fprintf(conn,
				"%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
				begin)
			start := time.Now()
			_ = conn.SetReadDeadline(start.Add(10 * time.Second))
			answer, _ := io.ReadAll(conn)
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("half a request held the connection for %v", took)
			}
			const why = "the request has not arrived within 50ms, which is the limit body-time of this server"
			if name == "taken" && !strings.Contains(string(answer), why) {
				t.Errorf("it is not told which limit: %s", answer)
			}
		})
	}
}

// TestAnswerMayTakeLongerThanTheBody: once the body is there, its limit is over.
func TestAnswerMayTakeLongerThanTheBody(t *testing.T) {
	c := config(t)
	c.Limits = &server.Limits{BodyTime: 50 * time.Millisecond}
	s := serve(t, c, nil)
	s.post(t, locks+"Acquire", `{"name": "a", "ttl": "0.3s", "owner": "first"}`).want(t, 200)
	s.post(t, locks+"Acquire", `{"name": "a", "wait": "10s", "owner": "second"}`).want(t, 200, `"owner":"second"`)
}

// TestHalfFrames sends what is not a request of any protocol.
func TestHalfFrames(t *testing.T) {
	s := serve(t, config(t), nil)
	for name, tc := range map[string]struct{ path, kind, body string }{
		"half a gRPC frame":     {transactions + "Get", "application/grpc+proto", "\x00\x00\x00\x00\x10abc"},
		"huge gRPC frame":       {transactions + "Get", "application/grpc+proto", "\x00\xff\xff\xff\xff"},
		"compressed, but not":   {transactions + "Get", "application/grpc+proto", "\x01\x00\x00\x00\x03abc"},
		"broken protobuf":       {transactions + "Get", "application/proto", "\xff\xff\xff"},
		"half a stream frame":   {locks + "Listen", "application/connect+json", "\x00\x00\x00\x00\x10{"},
		"huge stream frame":     {locks + "Listen", "application/connect+json", "\x00\xff\xff\xff\xff"},
		"no stream frame":       {locks + "Listen", "application/connect+json", ""},
		"gRPC-Web, half a text": {transactions + "Get", "application/grpc-web-text", "AAAA"},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.send(t, http.DefaultClient, http.MethodPost, tc.path, tc.body, "Content-Type", tc.kind)
			if a.status == 200 && a.header.Get("Grpc-Status") == "0" {
				t.Errorf("taken for a request: %+v", a)
			}
		})
	}
	s.post(t, transactions+"List", `{}`).want(t, 200)
}

// TestMalformedChunks: what a client does wrong is not the server's failure.
func TestMalformedChunks(t *testing.T) {
	s := serve(t, config(t), nil)
	for _, chunks := range []string{"zz\r\n", "5\r\n{}\r\n", "2\r\n{}xx", "ffffffffffffffffff\r\n"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST %sGet HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
			"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n%s", transactions, chunks)
		_ = conn.(*net.TCPConn).CloseWrite()
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%q: %v", chunks, err)
		} else if res.StatusCode < 400 || res.StatusCode >= 500 {
			t.Errorf("%q: %s", chunks, res.Status)
		}
		_ = conn.Close()
	}
}

// TestCompressedBomb: the limit counts what a body becomes.
func TestCompressedBomb(t *testing.T) {
	c := config(t)
	c.Limits = &server.Limits{Body: 4096}
	s := serve(t, c, nil)
	a := s.post(t, transactions+"Get", gzipped(t, `{"id": "`+strings.Repeat("x", 10<<20)+`"}`), "Content-Encoding",
		"gzip")
	a.want(t, 429, "resource_exhausted")
}

// TestMisledBrowser: a name that was made to point at loopback is not answered.
func TestMisledBrowser(t *testing.T) {
	s := serve(t, config(t), nil)
	s.post(t, transactions+"List", `{}`, "Host", "evil.example:7700").want(t, 403, "permission_denied", "evil.example")
	s.post(t, transactions+"List", `{}`, "Host", "localhost:7700").want(t, 200)
	s.post(t, transactions+"List", `{}`, "Host", "app.localhost").want(t, 403)
	s.post(t, transactions+"List", `{}`, "Host", "[::1]:7700").want(t, 200)
}

// hang makes a call that is given up with its context.
func (s *site) hang(ctx context.Context, path, body string, headers ...string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, strings.NewReader(body))
	if err != nil {
		return
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if res, err := http.DefaultClient.Do(req); err == nil {
		_ = res.Body.Close()
	}
}

func (s *site) connect(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// stream is a server stream read as it is on the wire.
type stream struct {
	res   *http.Response
	in    *bufio.Reader
	close func()
}

func (s *site) listen(t *testing.T, name string) *stream {
	t.Helper()
	return s.stream(t, locks+"Listen", `{"name": "`+name+`"}`)
}

func (s *site) stream(t *testing.T, path, body string, headers ...string) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	frame := string([]byte{0, 0, 0, 0, byte(len(body))}) + body
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, strings.NewReader(frame))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/connect+json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	closed := func() { cancel(); _ = res.Body.Close(); http.DefaultClient.CloseIdleConnections() }
	t.Cleanup(closed)
	return &stream{res: res, in: bufio.NewReader(res.Body), close: closed}
}

// message reads one frame.
func (s *stream) message(t *testing.T) string {
	t.Helper()
	var head [5]byte
	if _, err := io.ReadFull(s.in, head[:]); err != nil {
		t.Fatalf("stream: %v", err)
	}
	body := make([]byte, int(head[3])<<8|int(head[4]))
	if _, err := io.ReadFull(s.in, body); err != nil {
		t.Fatalf("stream: %v", err)
	}
	return string(body)
}

// eventually waits until a condition holds that no event tells of.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatal("waited in vain")
		}
	}
}
