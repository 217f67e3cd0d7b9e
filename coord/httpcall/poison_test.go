package httpcall_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/coord/allow"
	"github.com/bedrock-go/bedrock/coord/httpcall"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// poison is a service with ways not to answer, until it is repaired.
type poison struct {
	repaired atomic.Bool
	calls    atomic.Int64  // of what is broken
	enough   chan struct{} // closed after enoughCalls of them
}

// enoughCalls is one for each transaction with a broken participant.
const enoughCalls = 20

func (p *poison) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // or the server does not notice that the caller has gone
	if r.URL.Path == "/healthy" || p.repaired.Load() {
		return
	}
	if p.calls.Add(1) == enoughCalls {
		close(p.enough)
	}
	switch r.URL.Path {
	case "/fails":
		w.WriteHeader(http.StatusInternalServerError)
	case "/hangs":
		<-r.Context().Done()
	case "/floods":
		w.WriteHeader(http.StatusInternalServerError)
		for err := error(nil); err == nil; {
			_, err = io.WriteString(w, strings.Repeat("x", 1<<16))
		}
	case "/redirects":
		http.Redirect(w, r, "/healthy", http.StatusTemporaryRedirect)
	case "/breaks":
		panic(http.ErrAbortHandler)
	}
}

// Transactions with broken participants neither hold up others nor get lost, and end
// well once the participants are repaired.
func TestPoisonStaysWhereItIs(t *testing.T) {
	service := &poison{enough: make(chan struct{})}
	target := serve(t, service.ServeHTTP)
	co := coordinator(t)
	ctx := shortly(t, time.Minute)
	run := func(path, id string, timeout time.Duration) error {
		_, err := co.Run(ctx, txn.Definition{ID: id, Mode: "saga", Branches: []txn.Branch{{
			ID: "step", Do: target + txn.Target(path),
			Policy: &txn.Policy{Timeout: timeout, Backoff: 20 * time.Millisecond, MaxBackoff: 100 * time.Millisecond},
		}}})
		return err
	}
	var sick, healthy sync.WaitGroup
	var ended atomic.Int64
	for _, path := range []string{"/fails", "/hangs", "/floods", "/redirects", "/breaks"} {
		for i := range 4 {
			sick.Go(func() {
				if err := run(path, fmt.Sprint(path[1:], i), 200*time.Millisecond); err != nil {
					t.Error(path, err)
				}
				ended.Add(1)
			})
		}
	}
	for i := range 200 {
		healthy.Go(func() {
			if err := run("/healthy", fmt.Sprint("healthy", i), 10*time.Second); err != nil {
				t.Error(err)
			}
		})
	}
	healthy.Wait()
	select {
	case <-service.enough: // those that are sick may have been slower
	case <-ctx.Done():
		t.Error("only", service.calls.Load(), "broken calls")
	}
	if n := ended.Load(); n != 0 {
		t.Errorf("%d transactions ended without their participant", n)
	}
	service.repaired.Store(true)
	sick.Wait()
}

// coordinator starts one on memory that calls over HTTP.
func coordinator(t *testing.T) *coord.Coordinator {
	t.Helper()
	c := caller(t, &httpcall.Options{Allow: allow.Loopback()})
	co, err := coord.New(memstore.New(nil), &coord.Options{Callers: []txn.Caller{c}, Poll: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := co.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := co.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return co
}

func TestAForbiddenTargetIsNotAccepted(t *testing.T) {
	_, err := coordinator(t).Submit(t.Context(), txn.Definition{
		Mode: "saga", Branches: []txn.Branch{{ID: "a", Do: "http://10.0.0.1/"}},
	})
	field, ok := errors.AsType[*txn.InvalidError](err)
	if !ok || field.Field != "branches[0].do" {
		t.Error(err)
	}
}
