package httpguard

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/header"
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

// defaultTimeout is shorter than most callers wait: they learn that nothing was done.
const defaultTimeout = 5 * time.Second

// Handler returns a handler that lets through to next what comes with a ticket that is not stale. The ticket is in the
// request's context, see [guard.TicketFrom].
func Handler(next http.Handler, store guard.Store, opts *Options) http.Handler {
	h := &handler{next: next, store: store}
	if opts != nil {
		h.opts = *opts
	}
	if h.opts.Timeout == 0 {
		h.opts.Timeout = defaultTimeout
	}
	if h.opts.Logger == nil {
		h.opts.Logger = slog.Default()
	}
	return h
}

type handler struct {
	next  http.Handler
	store guard.Store
	opts  Options
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
	if err := h.askStore(r.Context(), ticket); err != nil {
		refuseRequest(w, err)
		return
	}
	h.next.ServeHTTP(w, r.WithContext(guard.ContextWithTicket(r.Context(), ticket)))
}

// askStore asks the store, and tells the log if it does not say. A caller who has gone has ended that himself.
func (h *handler) askStore(ctx context.Context, ticket guard.Ticket) error {
	within, cancel := ctx, context.CancelFunc(func() {})
	if h.opts.Timeout > 0 {
		within, cancel = context.WithTimeout(ctx, h.opts.Timeout)
	}
	defer cancel()
	err := h.store.Announce(within, ticket)
	if err == nil || errors.Is(err, guard.ErrStale) {
		return err
	}
	level := slog.LevelError
	if ctx.Err() != nil {
		level = slog.LevelDebug
	}
	h.opts.Logger.Log(ctx, level, "httpguard: the store does not say whether a token is stale", "error", err)
	return err
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
