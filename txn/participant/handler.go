package participant

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/participant/header"
)

// Options configure [Handler]. The zero value and nil mean the defaults.
type Options struct {
	// MaxPayload bounds the payload of a call, in bytes. Defaults to 4 MiB.
	MaxPayload int64
	// Logger is told of panics. Defaults to slog.Default().
	Logger *slog.Logger
}

func (o *Options) withDefaults() Options {
	var full Options
	if o != nil {
		full = *o
	}
	if full.MaxPayload <= 0 {
		full.MaxPayload = 4 << 20
	}
	if full.Logger == nil {
		full.Logger = slog.Default()
	}
	return full
}

// Handler makes an endpoint of a function. The call is also in the function's
// context.
func Handler(f txn.Func, opts *Options) http.Handler {
	return &handler{call: f, opts: opts.withDefaults()}
}

type handler struct {
	call txn.Func
	opts Options
}

// ServeHTTP answers a coordinator.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "calls of a transaction are POST", http.StatusMethodNotAllowed)
		return
	}
	call, err := header.Parse(r.Header)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if call.Payload, err = readPayload(w, r, h.opts.MaxPayload); err != nil {
		http.Error(w, "payload: "+err.Error(), statusOfRead(err))
		return
	}
	defer h.recover(w, &call)
	result, err := h.call(txn.ContextWithCall(r.Context(), call), call)
	if err != nil {
		writeError(w, err)
		return
	}
	reply(w, result)
}

func readPayload(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	body := http.MaxBytesReader(w, r.Body, most)
	n := r.ContentLength
	if n < 0 || n > most {
		return io.ReadAll(body)
	}
	if n == 0 {
		return nil, nil
	}
	payload := make([]byte, n)
	_, err := io.ReadFull(body, payload)
	return payload, err
}

func statusOfRead(err error) int {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}

// recover keeps a panic from looking like anything but an unknown outcome.
func (h *handler) recover(w http.ResponseWriter, call *txn.Call) {
	value := recover()
	if value == nil {
		return
	}
	h.opts.Logger.Error("participant panicked", "panic", value, "transaction", call.Transaction,
		"branch", call.Branch, "op", call.Op, "stack", string(debug.Stack()))
	http.Error(w, "the participant panicked", http.StatusInternalServerError)
}

func writeError(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if errors.Is(err, txn.ErrMalformed) {
		status = http.StatusBadRequest
	}
	if pending, ok := errors.AsType[*txn.PendingError](err); ok {
		status = http.StatusTooEarly
		w.Header().Set(header.RetryAfter, header.FormatRetryAfter(pending.After))
		w.Header().Set("Retry-After", header.FormatSeconds(pending.After))
	}
	if txn.Aborted(err) {
		status = http.StatusConflict
	}
	http.Error(w, header.Excerpt(err.Error()), status)
}

func reply(w http.ResponseWriter, result []byte) {
	kind := "application/octet-stream"
	if json.Valid(result) {
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	// The coordinator may have gone; it will ask again.
	_, _ = w.Write(result)
}
