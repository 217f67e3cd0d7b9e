package server

import (
	"context"
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

// health answers whether the stores can be reached. It asks them at most once a
// second, however often it is asked.
type health struct {
	inspector txn.Inspector
	locks     lockdriver.Inspector
	files     *Files
	log       *slog.Logger

	mu    sync.Mutex
	asked time.Time
	err   error
}

func newHealth(c *Config) *health {
	h := &health{inspector: c.Inspector, files: c.Files, log: c.Logger}
	h.locks, _ = c.Locks.(lockdriver.Inspector)
	return h
}

// ServeHTTP implements [http.Handler].
func (h *health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if h.check(r.Context()) != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("the store cannot be reached\n"))
		return
	}
	_, _ = w.Write([]byte("ok\n"))
	if n := len(h.files.Problems()); n > 0 { // what is wrong with them is for the log: anybody may ask here
		fmt.Fprintf(w, "warning: changed files that cannot be used: %d; what they held before stays in force\n", n)
	}
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
