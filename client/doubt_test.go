package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/txn"
)

// lostThen answers the first call as h does, and loses that; every later one gets the
// same answer.
func lostThen(h http.Handler, answer *connect.Error) http.Handler {
	var asked atomic.Bool
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Swap(true) {
			_ = connect.NewErrorWriter().Write(w, r, answer)
			return
		}
		h.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	})
}

// changes are the calls that change something.
func changes(c txn.Coordinator) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"run":    func(ctx context.Context) error { _, err := one("echo").ID("x").Run(ctx, c, nil); return err },
		"submit": func(ctx context.Context) error { _, err := one("echo").ID("x").Submit(ctx, c, nil); return err },
		"begin": func(ctx context.Context) error {
			_, err := c.Begin(ctx, txn.Definition{ID: "x", Mode: "tcc"})
			return err
		},
		"enlist":      func(ctx context.Context) error { return c.Enlist(ctx, "x") },
		"commit":      func(ctx context.Context) error { return c.Commit(ctx, "x") },
		"roll back":   func(ctx context.Context) error { return c.RollBack(ctx, "x", "test") },
		"subscribe":   func(ctx context.Context) error { return c.(txn.Topics).Subscribe(ctx, "x", "echo") },
		"unsubscribe": func(ctx context.Context) error { return c.(txn.Topics).Unsubscribe(ctx, "x", "echo") },
	}
}

// TestARefusalHidesALostReply: the first of two attempts may have been carried out,
// whatever the second is told.
func TestARefusalHidesALostReply(t *testing.T) {
	for _, later := range []*connect.Error{
		connect.NewError(connect.CodeUnauthenticated, errors.New("the token is over")),
		connect.NewError(connect.CodePermissionDenied, errors.New("needs operator")),
		apiwire.TransactionError(&txn.InvalidError{Field: "branches[0].do", Problem: "is not registered"}),
		apiwire.TransactionError(fmt.Errorf("x: %w", txn.ErrDecided)),
		apiwire.TransactionError(fmt.Errorf("x: %w", txn.ErrNotFound)),
	} {
		for what := range changes(nil) {
			s := serve(t, lostThen(handler(t, engine(t, parts()), nil), later))
			c := dial(t, s.url(), nil)
			err := changes(c)[what](t.Context())
			if e, ok := errors.AsType[*txn.InDoubtError](err); !ok || e.ID != "x" && e.ID != "topic/x" || e.Err == nil {
				t.Errorf("%s, then %v: told %v", what, later, err)
			}
			if _, told := apiwire.TransactionErrorOf(later); errors.Is(told, txn.ErrDecided) &&
				!errors.Is(err, txn.ErrDecided) {
				t.Errorf("%s: the later answer is lost: %v", what, err)
			}
		}
	}
}

// TestARunToldPendingIsCarriedOutTwice: what is not there afterwards has perhaps ended, and was
// removed; or the server gave up before it knew what became of the submit. Nobody here knows.
func TestARunToldPendingIsCarriedOutTwice(t *testing.T) {
	var submits atomic.Int64
	co := fickle{run: func(d txn.Definition) (txn.Result, error) {
		submits.Add(1)
		return txn.Result{ID: d.ID, Outcome: txn.InDoubt}, &txn.InDoubtError{ID: d.ID, Err: context.DeadlineExceeded}
	}}
	c := dial(t, serve(t, coordinated(t, co)).url(), nil)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	r, err := one("echo").ID("x").Run(ctx, c, nil)
	if e, ok := errors.AsType[*txn.InDoubtError](err); !ok || e.ID != "x" || e.Err == nil ||
		r.ID != "x" || r.Outcome != txn.InDoubt || submits.Load() != 1 {
		t.Errorf("result %+v, error %v after %d submits", r, err, submits.Load())
	}
}

// silent is a server whose store is away: it holds every call open.
func silent() http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
}

// TestAServerThatHoldsACallOpenIsNotWaitedForForEver: whoever has patience for so long
// knows then that nobody knows.
func TestAServerThatHoldsACallOpenIsNotWaitedForForEver(t *testing.T) {
	for what := range changes(nil) {
		if what == "run" { // waits for an outcome
			continue
		}
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			c := dial(t, serve(t, silent()).url(), &client.Options{Patience: time.Millisecond})
			err := changes(c)[what](ctx)
			if _, ok := errors.AsType[*txn.InDoubtError](err); !ok || ctx.Err() != nil ||
				errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("told %v; context: %v", err, ctx.Err())
			}
			if _, err := c.Get(ctx, "x"); !errors.Is(err, txn.ErrUnavailable) {
				t.Errorf("get: %v", err)
			}
		})
	}
}

// TestReadsAreNeverInDoubt: what answers the second of two looks is what there is.
func TestReadsAreNeverInDoubt(t *testing.T) {
	gone := apiwire.TransactionError(fmt.Errorf("x: %w", txn.ErrNotFound))
	for what, read := range map[string]func(context.Context, txn.Coordinator) error{
		"get": func(ctx context.Context, c txn.Coordinator) error {
			_, err := c.(txn.Inspector).Get(ctx, "x")
			return err
		},
		"wait": func(ctx context.Context, c txn.Coordinator) error { _, err := c.Wait(ctx, "x"); return err },
	} {
		c := dial(t, serve(t, lostThen(handler(t, engine(t, parts()), nil), gone)).url(), nil)
		err := read(t.Context(), c)
		if _, doubt := errors.AsType[*txn.InDoubtError](err); doubt || !errors.Is(err, txn.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestAnInterventionWithoutAnswerIsInDoubt: it is not repeated.
func TestAnInterventionWithoutAnswerIsInDoubt(t *testing.T) {
	c := dial(t, serve(t, lostThen(handler(t, engine(t, parts()), nil), nil)).url(), nil)
	err := c.Act(t.Context(), "x", txn.ActPark, "test")
	if e, ok := errors.AsType[*txn.InDoubtError](err); !ok || e.ID != "x" {
		t.Errorf("act: %v", err)
	}
}

// fickle is a coordinator of which nothing is known but how it runs.
type fickle struct {
	txn.Coordinator
	run func(txn.Definition) (txn.Result, error)
}

func (f fickle) Run(_ context.Context, d txn.Definition) (txn.Result, error) { return f.run(d) }

func (fickle) Wait(_ context.Context, id string) (txn.Result, error) {
	return txn.Result{ID: id, Outcome: txn.InDoubt}, fmt.Errorf("%s: %w", id, txn.ErrNotFound)
}

// TestAnAddressWithoutTheAPIIsToldAsNoAnswer, though there was one; nothing has happened there.
func TestAnAddressWithoutTheAPIIsToldAsNoAnswer(t *testing.T) {
	elsewhere := serve(t, http.NotFoundHandler()).url()
	for _, patience := range []time.Duration{-1, 50 * time.Millisecond} {
		c := dial(t, elsewhere, &client.Options{Patience: patience})
		_, submitted := one("echo").Submit(t.Context(), c, nil)
		_, got := c.Get(t.Context(), "a")
		for what, err := range map[string]error{
			"submit": submitted, "get": got, "act": c.Act(t.Context(), "a", txn.ActRetry, "test"),
			"watch": firstError(c.Watch(t.Context(), "a")),
		} {
			const want = "coordinator unavailable: there is no Bedrock API at this address: "
			if !errors.Is(err, txn.ErrUnavailable) || !strings.Contains(err.Error(), want) ||
				!strings.HasSuffix(err.Error(), " 404 Not Found") {
				t.Errorf("%s: got  %v\nwant %s404 Not Found", what, err, want)
			}
		}
		_, err := c.Backend().Acquire(t.Context(), driver.Request{Name: "a", Owner: "me", TTL: time.Second, Tokens: 1})
		if !errors.Is(err, driver.ErrUnavailable) || !strings.Contains(err.Error(), "there is no Bedrock API") {
			t.Errorf("acquire: %v", err)
		}
	}
}
