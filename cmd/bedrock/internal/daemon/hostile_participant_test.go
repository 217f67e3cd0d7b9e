package daemon_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/txn/participant/header"
)

// hostile is a participant that misbehaves when it is called forward.
type hostile struct {
	answer  http.HandlerFunc
	outcome string
	why     string // in the reason or an attempt
}

func hostiles(trap string) map[string]hostile {
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	status := func(code int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, text)
		}
	}
	return map[string]hostile{
		"hangs":  {hang, "rolled-back", "deadline exceeded"},
		"panics": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "rolled-back", "EOF"},
		"redirects": {
			func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, trap, http.StatusTemporaryRedirect) },
			"rolled-back", "307",
		},
		"redirects to cloud": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
		}, "rolled-back", "302"},
		"says 100 MB":       {flood(http.StatusOK), "committed", "dropped"},
		"fails with 100 MB": {flood(http.StatusInternalServerError), "rolled-back", "500"},
		"refuses 100 MB":    {flood(http.StatusConflict), "rolled-back", "xxx"},
		"drips":             {drip, "rolled-back", "broke off"},
		"works for ever":    {status(http.StatusTooEarly, ""), "rolled-back", "time"},
		"speaks HTML": {
			status(http.StatusInternalServerError, "<script>alert(1)</script>\x00\x1b[2J"), "rolled-back", "script",
		},
		"says no JSON": {status(http.StatusOK, "{oops"), "rolled-back", "not JSON"},
		"says nothing": {status(http.StatusOK, ""), "rolled-back", "returned nothing"},
	}
}

// flood answers with 100 MB.
func flood(code int) http.HandlerFunc {
	megabyte := []byte(strings.Repeat("x", 1<<20))
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		for range 100 {
			if _, err := w.Write(megabyte); err != nil {
				return
			}
		}
	}
}

// drip never comes to an end, and is never silent for long.
func drip(w http.ResponseWriter, r *http.Request) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if _, err := io.WriteString(w, "x"); err != nil || http.NewResponseController(w).Flush() != nil {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}

// participants counts who was called for what.
type participants struct {
	*httptest.Server

	mu    sync.Mutex
	calls map[string]int // by transaction and operation
}

// hire starts participants that answer a call forward as they are told to, and do
// everything else as they should.
func hire(t *testing.T, answer http.HandlerFunc) *participants {
	t.Helper()
	p := &participants{calls: make(map[string]int)}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.calls[r.Header.Get(header.Transaction)+" "+r.Header.Get(header.Branch)+" "+r.Header.Get(header.Operation)]++
		p.mu.Unlock()
		if r.URL.Path == "/do" {
			answer(w, r)
		}
	}))
	p.Config.ErrorLog = nil
	t.Cleanup(p.Close)
	return p
}

func (p *participants) count(transaction, operation string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[transaction+" "+operation]
}

// TestHostileParticipants: all of them at once, beside transactions that are well.
func TestHostileParticipants(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	var trapped atomic.Int32
	trap := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { trapped.Add(1) }))
	t.Cleanup(trap.Close)
	peak := watchHeap(t)
	t.Run("all", func(t *testing.T) {
		for name, h := range hostiles(trap.URL) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s.meet(t, strings.ReplaceAll(name, " ", "-"), h)
			})
		}
		t.Run("nobody listens", func(t *testing.T) {
			t.Parallel()
			s.nobody(t)
		})
		t.Run("all is well", func(t *testing.T) {
			t.Parallel()
			s.well(t)
		})
	})
	if used := peak(); used > 128<<20 {
		t.Errorf("%d MB in use", used>>20)
	}
	if n := trapped.Load(); n > 0 {
		t.Errorf("a redirect was followed %d times", n)
	}
}

func (s *site) meet(t *testing.T, id string, h hostile) {
	t.Helper()
	p := hire(t, h.answer)
	body := fmt.Sprintf(`{"definition": {"id": "%[1]s", "mode": "saga", "timeout": "3s", "steps": [
		{"id": "a", "action": "demo.echo", "compensate": "%[2]s/undo"},
		{"id": "b", "action": "%[2]s/do", "compensate": "%[2]s/undo", "after": ["a"],
		 "policy": {"timeout": "0.4s", "attempts": 2, "backoff": "0.01s", "then": "compensate"}},
		{"id": "c", "action": "demo.echo", "compensate": "%[2]s/undo", "after": ["b"]%[3]s}]}, "wait": true}`,
		id, p.URL, using(h))
	a := s.post(t.Context(), t, "Submit", body)
	if a.status != http.StatusOK || a.Result.Outcome != h.outcome || len(a.body) > 2000 {
		t.Errorf("%d %.300s, want %s", a.status, a.body, h.outcome)
	}
	shown := s.post(t.Context(), t, "Get", `{"id": "`+id+`"}`)
	if !strings.Contains(shown.body, h.why) || len(shown.body) > 20_000 {
		t.Errorf("%d bytes without %q: %.1500s", len(shown.body), h.why, shown.body)
	}
	if n := p.count(id, "a compensate"); (n > 0) != (h.outcome == "rolled-back") {
		t.Errorf("%s, and a was undone %d times", h.outcome, n)
	}
	page, err := s.http.Get(s.address + "/transactions/" + id)
	if err != nil {
		t.Fatal(err)
	}
	defer page.Body.Close()
	text, err := io.ReadAll(page.Body)
	if err != nil || page.StatusCode != http.StatusOK || strings.Contains(string(text), "<script>alert") {
		t.Errorf("console: %d, %v", page.StatusCode, err)
	}
}

// using lets a later step need the result of one that is expected to have none.
func using(h hostile) string {
	if strings.Contains(h.why, "JSON") || strings.Contains(h.why, "nothing") {
		return `, "use": {"x": "b"}`
	}
	return ""
}

// nobody calls a port that nobody listens on.
func (s *site) nobody(t *testing.T) {
	t.Helper()
	a := s.post(t.Context(), t, "Submit", fmt.Sprintf(`{"definition": {"id": "nobody", "mode": "saga", "timeout": "1s",
		"steps": [{"id": "a", "action": "http://%s/do"}]}, "wait": true}`, testenv.Nobody(t)))
	if a.Result.Outcome != "rolled-back" || !strings.Contains(a.Result.Reason, "time") {
		t.Errorf("%d %.300s", a.status, a.body)
	}
}

// well runs transactions that nothing is wrong with.
func (s *site) well(t *testing.T) {
	t.Helper()
	began := time.Now()
	for range 50 {
		if a := s.post(t.Context(), t, "Submit",
			`{"definition": {"mode": "saga", `+step(`"action": "demo.echo"`)+
				`}, "wait": true}`); a.Result.Outcome != "committed" {
			t.Errorf("%d %.300s", a.status, a.body)
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("50 healthy transactions took %v", took)
	}
}
