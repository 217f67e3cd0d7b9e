package participants

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// service answers for both participants, and counts.
type service struct {
	delay time.Duration
	track bool

	mu       sync.Mutex
	calls    int64
	first    time.Time
	finished map[string]struct{}
}

// ServeHTTP says that it is done.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	if s.track {
		s.countCall(r)
	}
	if s.delay > 0 {
		time.Sleep(s.delay)
	}
	w.Header()["Content-Type"] = []string{"application/json"}
	_, _ = io.WriteString(w, `{"ok":true}`)
}

// countCall counts a call, and the transactions that have reached the last branch.
func (s *service) countCall(r *http.Request) {
	id := r.Header.Get("Bedrock-Transaction")
	if id == "" {
		id = r.URL.Query().Get("gid")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls == 0 {
		s.first = time.Now()
	}
	s.calls++
	if strings.HasPrefix(r.URL.Path, lastBranch) {
		s.finished[id] = struct{}{}
	}
}

// Stats is what the participants have seen since they started.
type Stats struct {
	Calls int64
	// First is when the first call came.
	First time.Time
	// Finished is how many transactions have called the second participant.
	Finished int
}

func (s *service) stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{Calls: s.calls, First: s.first, Finished: len(s.finished)}
}

// hang answers nobody in time.
func hang(w http.ResponseWriter, r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-time.After(hangs):
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// hangs is for how long the participant that hangs does so.
const hangs = 30 * time.Second
