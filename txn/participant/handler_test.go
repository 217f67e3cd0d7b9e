package participant_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/participant"
)

// request is a coordinator's call.
func request(body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Bedrock-Transaction", "t")
	r.Header.Set("Bedrock-Branch", "b")
	r.Header.Set("Bedrock-Operation", "try")
	return r
}

func answering(result []byte, err error) txn.Func {
	return func(context.Context, txn.Call) ([]byte, error) { return result, err }
}

func serve(f txn.Func, opts *participant.Options, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	participant.Handler(f, opts).ServeHTTP(w, r)
	return w
}

func TestStatuses(t *testing.T) {
	for name, c := range map[string]struct {
		result []byte
		err    error
		status int
		body   string
		header http.Header
	}{
		"JSON":    {[]byte(`{"id":1}`), nil, 200, `{"id":1}`, http.Header{"Content-Type": {"application/json"}}},
		"bytes":   {[]byte{0}, nil, 200, "\x00", http.Header{"Content-Type": {"application/octet-stream"}}},
		"nothing": {nil, nil, 200, "", nil},
		"abort":   {nil, txn.Abort(errors.New("out of stock")), 409, "out of stock\n", nil},
		"wrapped": {nil, fmt.Errorf("stock: %w", txn.Abort(errors.New("none"))), 409, "stock: none\n", nil},
		"long":    {nil, txn.Abort(errors.New(strings.Repeat("x", 999))), 409, strings.Repeat("x", 256) + "\n", nil},
		"why":     {nil, txn.Abort(nil), 409, "refused, and no reason was given\n", nil},
		"pending": {
			nil, txn.Pending(1200 * time.Millisecond), 425, "still working; ask again in 1.2s\n",
			http.Header{"Retry-After": {"2"}, "Bedrock-Retry-After": {"1200"}},
		},
		"malformed": {
			nil, fmt.Errorf("%w: payload of stock", txn.ErrMalformed), 400,
			"the call cannot be read: payload of stock\n", nil,
		},
		"unknown":   {nil, errors.New("no connection"), 500, "no connection\n", nil},
		"no result": {[]byte("partial"), errors.New("no connection"), 500, "no connection\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := serve(answering(c.result, c.err), nil, request("{}"))
			if w.Code != c.status || w.Body.String() != c.body {
				t.Errorf("%d %q, want %d %q", w.Code, w.Body, c.status, c.body)
			}
			for name, values := range c.header {
				if got := w.Header().Get(name); got != values[0] {
					t.Errorf("%s: %q, want %q", name, got, values[0])
				}
			}
		})
	}
}

func TestRequestsThatAreNoCalls(t *testing.T) {
	never := func(context.Context, txn.Call) ([]byte, error) {
		t.Error("called")
		return nil, nil
	}
	get := request("")
	get.Method = http.MethodGet
	stranger := httptest.NewRequest(http.MethodPost, "/", nil)
	garbled := request("")
	garbled.Header.Set("Bedrock-Attempt", "first")
	endless := request(strings.Repeat("x", 101))
	endless.ContentLength = -1
	short := request("abc")
	short.ContentLength = 4
	for name, c := range map[string]struct {
		r      *http.Request
		status int
	}{
		"GET":         {get, 405},
		"no headers":  {stranger, 400},
		"bad attempt": {garbled, 400},
		"too long":    {request(strings.Repeat("x", 101)), 413},
		"endless":     {endless, 413},
		"too short":   {short, 400},
	} {
		t.Run(name, func(t *testing.T) {
			w := serve(never, &participant.Options{MaxPayload: 100}, c.r)
			if w.Code != c.status || w.Body.Len() == 0 {
				t.Errorf("%d %q, want %d", w.Code, w.Body, c.status)
			}
		})
	}
}

func TestTheCallIsInTheContext(t *testing.T) {
	f := func(ctx context.Context, call txn.Call) ([]byte, error) {
		inside, ok := txn.CallFrom(ctx)
		if !ok || inside.Transaction != "t" || string(inside.Payload) != "{}" || inside.Branch != call.Branch {
			t.Errorf("%+v", inside)
		}
		return nil, nil
	}
	serve(f, nil, request("{}"))
}

func TestTypedFunctions(t *testing.T) {
	type order struct{ Items int }
	f := txn.Handle(func(_ context.Context, o order) (order, error) { return order{Items: o.Items + 1}, nil })
	if w := serve(f, nil, request(`{"Items":1}`)); w.Code != 200 || w.Body.String() != `{"Items":2}` {
		t.Error(w.Code, w.Body)
	}
	// What cannot be read will not become better. It is no refusal: only a person can know
	// that it was not done before.
	if w := serve(f, nil, request(`{"Items":"x"}`)); w.Code != 400 {
		t.Error(w.Code, w.Body)
	}
}

func TestAPanicIsAnUnknownOutcome(t *testing.T) {
	var log bytes.Buffer
	opts := &participant.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	for _, value := range []any{"secret", errors.New("secret"), http.ErrAbortHandler} {
		log.Reset()
		w := serve(func(context.Context, txn.Call) ([]byte, error) { panic(value) }, opts, request("{}"))
		if w.Code != 500 || w.Body.String() != "the participant panicked\n" {
			t.Error(w.Code, w.Body)
		}
		if !strings.Contains(log.String(), "transaction=t branch=b op=try") ||
			!strings.Contains(log.String(), "handler_test.go") {
			t.Error(log.String())
		}
	}
}
