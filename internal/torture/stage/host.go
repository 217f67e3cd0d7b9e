// Package stage is what a run plays on: servers that it started itself, proxies in front
// of them, and processes of this program.
package stage

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

// Host owns servers until it is closed, as a test would.
type Host struct {
	dir string

	mu       sync.Mutex
	folders  int
	cleanups []func()
	problems []error
}

var _ testenv.Owner = (*Host)(nil)

// NewHost returns a host whose servers keep their data below a folder.
func NewHost(dir string) *Host { return &Host{dir: dir} }

// gaveUp is the panic by which Fatal leaves what cannot go on; Try turns it back.
type gaveUp struct{ err error }

// Try runs what needs the host, and returns why it could not go on.
func (h *Host) Try(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			stopped, ours := r.(gaveUp)
			if !ours {
				panic(r)
			}
			err = stopped.err
		}
	}()
	f()
	return nil
}

// Helper implements [testenv.Owner].
func (h *Host) Helper() {}

// Name implements [testenv.Owner].
func (h *Host) Name() string { return "bedrock torture" }

// TempDir implements [testenv.Owner].
func (h *Host) TempDir() string {
	h.mu.Lock()
	h.folders++
	dir := filepath.Join(h.dir, fmt.Sprintf("server%d", h.folders))
	h.mu.Unlock()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		h.Fatal(err)
	}
	return dir
}

// Cleanup implements [testenv.Owner].
func (h *Host) Cleanup(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cleanups = append(h.cleanups, f)
}

// Errorf implements [testenv.Owner].
func (h *Host) Errorf(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.problems = append(h.problems, fmt.Errorf(format, args...))
}

// Fatal implements [testenv.Owner].
func (h *Host) Fatal(args ...any) { panic(gaveUp{fmt.Errorf("%s", fmt.Sprint(args...))}) }

// Fatalf implements [testenv.Owner].
func (h *Host) Fatalf(format string, args ...any) { panic(gaveUp{fmt.Errorf(format, args...)}) }

// Skip implements [testenv.Owner]: without its program a run cannot be.
func (h *Host) Skip(args ...any) { h.Fatal(args...) }

// Close ends all servers, the last first.
func (h *Host) Close() {
	h.mu.Lock()
	cleanups := h.cleanups
	h.cleanups = nil
	h.mu.Unlock()
	for _, f := range slices.Backward(cleanups) {
		if err := h.Try(f); err != nil {
			h.Errorf("%w", err)
		}
	}
}

// Problems are what went wrong with the servers themselves.
func (h *Host) Problems() []error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.problems)
}
