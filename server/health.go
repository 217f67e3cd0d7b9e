package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	lockdriver "github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/txn"
)

// How health is found out.
const (
	healthFresh = time.Second     // how long an answer is given again
	healthWait  = 2 * time.Second // how long the store may take
)

// health tells whether the server lives, whether it can do its work, and what is wrong
// with it. It asks the stores at most once a second, however often it is asked.
type health struct {
	inspector txn.Inspector
	writer    interface{ Trouble() error } // what was seen of the store's writes; may be nil
	locks     lockdriver.Inspector
	files     *Files
	log       *slog.Logger

	mu    sync.Mutex
	asked time.Time
	err   error
}

func newHealth(c *Config) *health {
	h := &health{inspector: c.Inspector, files: c.Files, log: c.Logger}
	h.writer, _ = c.Coordinator.(interface{ Trouble() error })
	h.locks, _ = c.Locks.(lockdriver.Inspector)
	return h
}

// live answers /livez: whoever answers at all lives. A store that is away is no reason to
// restart every server that waits for it.
func (h *health) live(w http.ResponseWriter, _ *http.Request) { tellHealth(w, http.StatusOK, "ok") }

// readiness answers /readyz: whether calls are worth sending here.
func (h *health) readiness(w http.ResponseWriter, r *http.Request) {
	if err := h.ready(r.Context()); err != nil {
		tellHealth(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	tellHealth(w, http.StatusOK, "ok")
}

// report answers /healthz, for people: all that is wrong, whatever it means to others.
func (h *health) report(w http.ResponseWriter, r *http.Request) {
	text := "ok"
	if err := h.ready(r.Context()); err != nil {
		text = err.Error()
	}
	if n := len(h.files.Problems()); n > 0 { // what is wrong with them is for the log: anybody may ask here
		text += fmt.Sprintf("\nwarning: changed files that cannot be used: %d; what they held before stays in force", n)
	}
	tellHealth(w, http.StatusOK, text)
}

func tellHealth(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintln(w, text)
}

// What anybody may know of a server that is not ready.
var (
	errNoStore = errors.New("the store cannot be reached")
	errTrouble = errors.New("the store can be reached, and fails to do its work; the log says why")
)

// ready tells why the server cannot do its work now; nil if it can.
func (h *health) ready(ctx context.Context) error {
	if drain, ok := ctx.Value(drainKey{}).(context.Context); ok && drain.Err() != nil {
		return errStopping
	}
	if h.check(ctx) != nil {
		return errNoStore
	}
	if h.writer != nil && h.writer.Trouble() != nil { // which the coordinator has told the log
		return errTrouble
	}
	return nil
}

func (h *health) check(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.asked) > healthFresh {
		h.err = h.ask(context.WithoutCancel(ctx)) // others get the same answer
		h.asked = time.Now()
		if h.err != nil {
			h.log.WarnContext(ctx, "server: not healthy", "err", h.err)
		}
	}
	return h.err
}

func (h *health) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, healthWait)
	defer cancel()
	if h.inspector != nil {
		if _, err := h.inspector.List(ctx, txn.Query{Limit: 1}); err != nil {
			return err
		}
	}
	if h.locks != nil {
		if _, err := h.locks.Inspect(ctx, "bedrock/health"); err != nil {
			return err
		}
	}
	return nil
}
