package daemon_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/daemon"
)

// pages is a log that may be read while it is written.
type pages struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (p *pages) Write(line []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(line)
}

// with returns the lines that hold a word.
func (p *pages) with(word string) (lines []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for line := range strings.Lines(p.text.String()) {
		if strings.Contains(line, word) {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestTheLogTellsOfTheServersLife, and of an intervention once, with who and why.
func TestTheLogTellsOfTheServersLife(t *testing.T) {
	log := &pages{}
	address, stop := start(t, func(c *daemon.Config) {
		c.Logger, c.Version, c.StoreName = slog.New(slog.NewTextHandler(log, nil)), "v1.2.3", "memory"
	})
	s := &site{address: address, http: &http.Client{Transport: &http.Transport{}}}
	s.post(t.Context(), t, "Submit", submission(step(`"action": "demo.fail"`)))
	if a := s.post(t.Context(), t, "Act",
		`{"id": "hostile", "action": "park", "reason": "sunspots"}`); a.status != http.StatusOK {
		t.Error(a.body)
	}
	s.http.CloseIdleConnections()
	stop()
	if told := log.with("sunspots"); len(told) != 1 || !strings.Contains(told[0], "msg=audit") {
		t.Errorf("the intervention is told in %d lines: %s", len(told), told)
	}
	for word, more := range map[string]string{
		"server: started": "version=v1.2.3", "server: stops": "address=", "coordinator stops": "transactions=",
	} {
		if told := log.with(word); len(told) != 1 || !strings.Contains(told[0], more) {
			t.Errorf("%s: %s", word, told)
		}
	}
}
