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
	"github.com/bedrock-go/bedrock/server/auth"
	"github.com/bedrock-go/bedrock/txn"
)

// How health is found out.
const (
	healthFresh = time.Second     // how long an answer is given again
	healthWait  = 2 * time.Second // how long the store may take
)

// health reports whether the server lives, whether it can do its work, and what is wrong
// with it. It asks the stores at most once a second, however often it is asked.
type health struct {
	inspector txn.Inspector
	writer    interface{ Trouble() error } // what was seen of the store's writes; may be nil
	locks     lockdriver.Inspector
	files     *auth.Files
	log       *slog.Logger

	mu    sync.Mutex
	asked time.Time
	err   error // what may be told of it
}

func newHealth(s *Services, o *Options) *health {
	h := &health{inspector: s.Inspector, files: o.Files, log: o.Logger}
	h.writer, _ = s.Coordinator.(interface{ Trouble() error })
	h.locks, _ = s.Locks.(lockdriver.Inspector)
	return h
}

// livePath is the page that says whether the server lives.
const livePath = "/livez"

// asksLife reports whether a request asks for that page.
func asksLife(r *http.Request) bool {
	return r.URL.Path == livePath && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}

// pages are those that say how the server is, to everybody.
func (h *health) pages() []Mount {
	return []Mount{
		{"GET " + livePath, http.HandlerFunc(h.live), everybody},
		{"GET /readyz", http.HandlerFunc(h.readiness), everybody},
		{"GET /healthz", http.HandlerFunc(h.writeReport), everybody},
	}
}

// live answers /livez: a server that answers at all lives. A store that is away is no
// reason to restart every server that waits for it.
func (h *health) live(w http.ResponseWriter, _ *http.Request) { writeHealth(w, http.StatusOK, "ok") }

// readiness answers /readyz: whether calls are worth sending here.
func (h *health) readiness(w http.ResponseWriter, r *http.Request) {
	if err := h.whyNotReady(r.Context()); err != nil {
		writeHealth(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	writeHealth(w, http.StatusOK, "ok")
}

// writeReport answers /healthz, for people: all that is wrong, whatever it means to others.
func (h *health) writeReport(w http.ResponseWriter, r *http.Request) {
	text := "ok"
	if err := h.whyNotReady(r.Context()); err != nil {
		text = err.Error()
	}
	if n := len(h.files.Problems()); n > 0 { // what is wrong with them is for the log: anybody may ask here
		text += fmt.Sprintf("\nwarning: changed files that cannot be used: %d; what they held before stays in force", n)
	}
	writeHealth(w, http.StatusOK, text)
}

func writeHealth(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintln(w, text)
}

// What anybody may know of a server that is not ready.
var (
	errNoStore = errors.New("the store cannot be reached")
	errNoLocks = errors.New("the backend of locks cannot be reached")
	errTrouble = errors.New("the store can be reached, and fails to do its work; the log says why")
)

// whyNotReady says why the server cannot do its work now; nil if it can.
func (h *health) whyNotReady(ctx context.Context) error {
	if drain, ok := ctx.Value(drainKey{}).(context.Context); ok && drain.Err() != nil {
		return errStopping
	}
	if err := h.checkStores(ctx); err != nil {
		return err
	}
	if h.writer != nil && h.writer.Trouble() != nil { // which the coordinator has told the log
		return errTrouble
	}
	return nil
}

func (h *health) checkStores(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.asked) > healthFresh {
		var cause error
		h.err, cause = h.askStores(context.WithoutCancel(ctx)) // others get the same answer
		h.asked = time.Now()
		if h.err != nil {
			h.log.WarnContext(ctx, "server: not healthy", "why", h.err, "err", cause)
		}
	}
	return h.err
}

// askStores says what may be told to anybody, and what is for the log.
func (h *health) askStores(ctx context.Context) (told, cause error) {
	ctx, cancel := context.WithTimeout(ctx, healthWait)
	defer cancel()
	if h.inspector != nil {
		if _, err := h.inspector.List(ctx, txn.Query{Limit: 1}); err != nil {
			return errNoStore, err
		}
	}
	if h.locks != nil {
		if _, err := h.locks.Inspect(ctx, "bedrock/health"); err != nil {
			return errNoLocks, err
		}
	}
	return nil, nil
}
