package httpguard

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/header"
	"github.com/bedrock-go/bedrock/lock/guard/internal/asking"
)

// Options configure [Handler]. The zero value and nil mean the defaults.
type Options struct {
	// Optional lets requests through that have no ticket: they have none in their context, either, whatever the server
	// has. By default they are refused.
	Optional bool
	// NameFunc returns the name of the lock that guards what a request is about; a request that has the ticket of
	// another lock is refused. Defaults to any.
	NameFunc func(r *http.Request) string
	// Timeout is for how long the store is asked about a request; then that is refused, as when the store fails. One in
	// a database waits for whoever has checked there and not ended his transaction. Defaults to 5 s; with -1 only
	// the request's own context ends it.
	Timeout time.Duration
	// Logger is told when the store does not answer, though whoever asks still waits. Defaults to slog.Default().
	Logger *slog.Logger
}

// Handler returns a handler that lets through to next what comes with a ticket that is not stale. The ticket is in the
// request's context, see [guard.TicketFrom].
func Handler(next http.Handler, store guard.Store, opts *Options) http.Handler {
	h := &handler{next: next}
	if opts != nil {
		h.opts = *opts
	}
	h.asking = asking.Asking{
		Guard: "httpguard", Store: store, Timeout: h.opts.Timeout, Logger: h.opts.Logger,
	}
	return h
}

type handler struct {
	next   http.Handler
	opts   Options
	asking asking.Asking
}

// ServeHTTP implements [http.Handler].
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ticket, ok, err := header.Parse(r.Header.Values)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	case !ok && h.opts.Optional:
		h.next.ServeHTTP(w, r.WithContext(guard.ContextWithoutTicket(r.Context()))) // not what the server has itself
		return
	case !ok:
		http.Error(w, "want the headers "+header.Name+" and "+header.Token, http.StatusPreconditionRequired)
		return
	case h.opts.NameFunc != nil && h.opts.NameFunc(r) != ticket.Name:
		http.Error(w, header.Name+": this is guarded by another lock", http.StatusForbidden)
		return
	}
	if err := h.asking.Announce(r.Context(), ticket); err != nil {
		refuseRequest(w, err)
		return
	}
	h.next.ServeHTTP(w, r.WithContext(guard.ContextWithTicket(r.Context(), ticket)))
}

func refuseRequest(w http.ResponseWriter, err error) {
	if stale, ok := errors.AsType[*guard.StaleError](err); ok {
		WriteRefusal(w, stale)
		return
	}
	http.Error(w, "the lock's token cannot be checked now; nothing was done", http.StatusServiceUnavailable)
}

// WriteRefusal answers a request that has shown a stale token, for handlers that find that out themselves.
func WriteRefusal(w http.ResponseWriter, stale *guard.StaleError) {
	header.WriteStale(stale, w.Header().Set)
	http.Error(w, stale.Error(), http.StatusPreconditionFailed)
}
