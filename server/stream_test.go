package server_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/txn"
)

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWatchUntilFinal(t *testing.T) {
	s := serve(t, config(t), nil)
	s.post(t, transactions+"Begin",
		`{"definition": {"id": "w", "mode": "tcc", "branches": [{"id": "a", "confirm": "echo", "cancel": `+
			`"undo"}]}}`).want(t, 200)
	w := s.stream(t, transactions+"Watch", `{"id": "w"}`)
	if first := w.message(t); !strings.Contains(first, `"open"`) {
		t.Errorf("first message %s", first)
	}
	s.post(t, transactions+"RollBack", `{"id": "w", "reason": "test"}`).want(t, 200)
	last := ""
	for message := w.message(t); message != "{}"; message = w.message(t) {
		last = message
	}
	if !strings.Contains(last, `"rolled-back"`) {
		t.Errorf("last message %s", last)
	}
}

func TestWatchOfNobody(t *testing.T) {
	s := serve(t, config(t), nil)
	if got := s.stream(t, transactions+"Watch", `{"id": "nobody"}`).message(t); !strings.Contains(got, "not_found") {
		t.Errorf("message %s", got)
	}
}

// attentive is a coordinator that tells when somebody waits.
type attentive struct {
	txn.Coordinator
	waits chan struct{}
}

func (c attentive) Wait(ctx context.Context, id string) (txn.Result, error) {
	c.waits <- struct{}{}
	return c.Coordinator.Wait(ctx, id)
}

// TestStopEndsStreams stops a server while clients watch, listen and wait.
func TestStopEndsStreams(t *testing.T) {
	c := config(t)
	co := attentive{c.Coordinator, make(chan struct{}, 1)}
	c.Coordinator = co
	s := serve(t, c, nil)
	s.post(t, transactions+"Begin", `{"definition": {"id": "w", "mode": "tcc", "timeout": "60s"}}`).want(t, 200)
	watch := s.stream(t, transactions+"Watch", `{"id": "w"}`)
	watch.message(t)
	listen := s.listen(t, "a")
	listen.message(t)
	waited := make(chan answer, 1)
	s.post(t, locks+"Acquire", `{"name": "a"}`).want(t, 200)
	go func() { waited <- s.tryPost(t.Context(), locks+"Acquire", `{"name": "a", "wait": "60s"}`) }()
	pending := make(chan answer, 1)
	go func() { pending <- s.tryPost(t.Context(), transactions+"Wait", `{"id": "w"}`) }()
	select {
	case <-co.waits:
	case a := <-pending:
		t.Fatalf("there was no wait: %v %s", a.err, a.body)
	}
	eventually(t, func() bool {
		return strings.Contains(s.post(t, locks+"Inspect", `{"name": "a"}`).body, `"waiting":2`)
	})
	start := time.Now()
	if err := s.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("the server took %v to stop", took)
	}
	for _, w := range []*stream{watch, listen} {
		if got := w.message(t); !strings.Contains(got, "unavailable") {
			t.Errorf("the stream ended with %s", got)
		}
	}
	(<-waited).want(t, 409, "already_exists")
	(<-pending).want(t, 200, `"pending":true`)
}

// TestGoneClientFreesItsPlace: whoever waited and left leaves nothing.
func TestGoneClientFreesItsPlace(t *testing.T) {
	s := serve(t, config(t), nil)
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "first"}`).want(t, 200)
	listen := s.listen(t, "a")
	listen.message(t)
	listen.close()
	eventually(t, func() bool { return !strings.Contains(s.post(t, locks+"Inspect", `{"name": "a"}`).body, "waiting") })
	s.post(t, locks+"Release", `{"grant": {"name": "a", "owner": "first"}}`).want(t, 200)
	s.post(t, locks+"Acquire", `{"name": "a"}`).want(t, 200)
}

// TestWaitersComeInTurn: long polls for one name are served in the order of their
// coming, one at a time.
func TestWaitersComeInTurn(t *testing.T) {
	s := serve(t, config(t), nil)
	s.post(t, locks+"Acquire", `{"name": "a", "owner": "w0"}`).want(t, 200)
	const n = 5
	served := make(chan answer, n)
	for i := 1; i <= n; i++ {
		owner := fmt.Sprintf("w%d", i)
		go func() {
			served <- s.tryPost(t.Context(), locks+"Acquire", `{"name": "a", "wait": "20s", "owner": "`+owner+`"}`)
		}()
		if i == 1 {
			eventually(t, func() bool {
				return strings.Contains(s.post(t, locks+"Inspect", `{"name": "a"}`).body, `"waiting":1`)
			})
		}
	}
	holder := "w0"
	seen := map[string]bool{}
	for range n {
		s.post(t, locks+"Release", `{"grant": {"name": "a", "owner": "`+holder+`"}}`).want(t, 200)
		a := <-served
		a.want(t, 200)
		holder, _ = a.at("grant.owner").(string)
		if seen[holder] || !strings.HasPrefix(holder, "w") {
			t.Fatalf("served: %s", a.body)
		}
		seen[holder] = true
	}
	if !seen["w1"] {
		t.Errorf("served %v", seen)
	}
}

// TestListenersKeepLittle: what a listener calls itself is kept for as long as it listens.
func TestListenersKeepLittle(t *testing.T) {
	s := serve(t, config(t), nil)
	for length, want := range map[int]string{128: "{}", 129: "client: 129 bytes: at most 128"} {
		w := s.stream(t, locks+"Listen", `{"name": "a", "client": "`+strings.Repeat("x", length)+`"}`)
		if got := w.message(t); !strings.Contains(got, want) {
			t.Errorf("%d bytes: %s", length, got)
		}
		w.close()
	}
}

// TestSlowConsumerIsCutOff watches a transaction with a large payload and does not
// read.
func TestSlowConsumerIsCutOff(t *testing.T) {
	c := config(t)
	c.Limits = &server.Limits{Slow: 50 * time.Millisecond, Streams: 1}
	s := serve(t, c, nil)
	payload := strings.Repeat("x", 900<<10)
	s.post(t, transactions+"Begin", `{"definition": {"id": "big", "mode": "tcc", "payload": "`+payload+`"}}`).want(t,
		200)
	conn := s.connect(t)
	body := "\x00\x00\x00\x00\x0d" + `{"id": "big"}`
	fmt.Fprintf(conn,
		"POST %sWatch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/connect+json\r\n"+
			"Content-Length: %d\r\n\r\n%s",
		transactions, len(body), body)
	for i := range 20 { // every change sends the payload again, until no buffer takes more
		s.post(t, transactions+"Enlist", fmt.Sprintf(
			`{"id": "big", "branches": [{"id": "b%d", "confirm": "echo", "cancel": "undo"}]}`, i)).want(t, 200)
	}
	eventually(t, func() bool {
		w := s.stream(t, transactions+"Watch", `{"id": "nobody"}`) // there is room for one stream only
		defer w.close()
		return strings.Contains(w.message(t), "not_found")
	})
}

// tardy is a store whose caller leaves as soon as it has asked. It answers when the caller
// has gone.
type tardy struct {
	driver.Backend
	leave    func()
	released chan string
}

func (b tardy) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	b.leave()
	<-ctx.Done()
	return driver.Grant{Name: req.Name, Owner: req.Owner, Token: 1, Tokens: 1, TTL: req.TTL}, nil
}

func (b tardy) Release(ctx context.Context, g driver.Grant) (int, error) {
	if ctx.Err() == nil {
		b.released <- g.Name
	}
	return 0, nil
}

// TestGrantForAGoneClientIsGivenBack: nobody else would release it before its time.
func TestGrantForAGoneClientIsGivenBack(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	store := tardy{leave: leave, released: make(chan string, 1)}
	s := serve(t, setup{Services: server.Services{Locks: store}}, nil)
	s.hang(ctx, locks+"Acquire", `{"name": "a"}`)
	select {
	case <-store.released:
	case <-time.After(5 * time.Second):
		t.Error("the lock was not given back")
	}
}
