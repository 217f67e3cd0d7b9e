package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/apiwire"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	bedrockv1 "github.com/bedrock-go/bedrock/proto/bedrock/v1"
	"github.com/bedrock-go/bedrock/proto/bedrock/v1/bedrockv1connect"
	"github.com/bedrock-go/bedrock/server"
)

// ancient is a server that has not heard of several stores that make up one lock.
type ancient struct {
	bedrockv1connect.UnimplementedLockServiceHandler

	store driver.Backend
}

func (a ancient) Acquire(ctx context.Context, m *bedrockv1.AcquireRequest) (*bedrockv1.AcquireResponse, error) {
	mode, err := driver.ParseMode(m.GetMode())
	if err != nil {
		return nil, apiwire.Invalid(err)
	}
	g, err := a.store.Acquire(ctx, driver.Request{
		Name: m.GetName(), Owner: m.GetOwner(), Mode: mode, TTL: m.GetTtl().AsDuration(), Tokens: int(m.GetTokens()),
	})
	if err != nil {
		return nil, apiwire.LockError(err)
	}
	return &bedrockv1.AcquireResponse{Grant: apiwire.Grant(g)}, nil
}

// vote is a request to one of several stores.
func vote(above uint64, age time.Duration) driver.Request {
	return driver.Request{Name: "a", Owner: "o", TTL: time.Minute, Tokens: 1, Above: above, Age: age}
}

// TestOldServerIgnoresVotes and grants what it must not.
func TestOldServerIgnoresVotes(t *testing.T) {
	_, h := bedrockv1connect.NewLockServiceHandler(ancient{store: memlock.NewBackend(nil)})
	b := dial(t, serve(t, h).url(), nil).Backend()
	defer func() { _ = b.Close() }()
	for _, req := range []driver.Request{vote(1, 0), vote(0, time.Millisecond)} {
		g, err := b.Acquire(t.Context(), req)
		if !errors.Is(err, driver.ErrUnsupported) || errors.Is(err, driver.ErrSpent) {
			t.Errorf("above %d, age %s: %+v, %v", req.Above, req.Age, g, err)
		}
	}
	if _, err := b.Acquire(t.Context(), vote(0, 0)); err != nil {
		t.Errorf("what it has heard of: %v", err)
	}
	if id, err := b.(driver.Identifier).Identity(t.Context()); !errors.Is(err, driver.ErrUnsupported) {
		t.Errorf("identity %q, %v", id, err)
	}
}

// serverOf serves the locks of a store.
func serverOf(t *testing.T, store *memlock.Store) http.Handler {
	t.Helper()
	h, err := server.New(server.Services{Locks: memlock.NewBackend(store)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestServerWithoutTheQuestionIsUnavailable: who asks it for its identity would ask again and again.
func TestServerWithoutTheQuestionIsUnavailable(t *testing.T) {
	api := serverOf(t, memlock.NewStore(nil))
	b := dial(t, serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = strings.Replace(r.URL.Path, "/Identify", "/Explode", 1)
		api.ServeHTTP(w, r)
	})).url(), nil).Backend()
	defer func() { _ = b.Close() }()
	if id, err := b.(driver.Identifier).Identity(t.Context()); !errors.Is(err, driver.ErrUnsupported) {
		t.Errorf("identity %q, %v", id, err)
	}
}

// TestTwoServersOfOneStoreDiffer, or those of two stores do not.
func TestTwoServersOfOneStoreDiffer(t *testing.T) {
	one, other := memlock.NewStore(nil), memlock.NewStore(nil)
	identity := make(map[string]int)
	for _, store := range []*memlock.Store{one, one, other} {
		b := dial(t, serve(t, serverOf(t, store)).url(), nil).Backend()
		id, err := b.(driver.Identifier).Identity(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		identity[id]++
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(identity) != 2 {
		t.Errorf("two stores are %v", identity)
	}
}
