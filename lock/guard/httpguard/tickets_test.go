package httpguard_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/httpguard"
	"github.com/bedrock-go/bedrock/lock/guard/internal/guardtest"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func openLocks(t *testing.T) *lock.Client {
	t.Helper()
	locks, err := memlock.New(memlock.NewStore(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = locks.Stop(context.Background()) })
	return locks
}

func TestTicketsAreMixedUp(t *testing.T) {
	t.Parallel()
	service := httpguard.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ticket, _ := guard.TicketFrom(r.Context())
		w.Header().Set("Shown", ticket.Name)
	}), guard.NewMemory(nil), &httpguard.Options{Optional: true})
	server := httptest.NewServer(service)
	defer server.Close()
	client := &http.Client{Transport: httpguard.NewTransport(nil)}
	guardtest.InnermostTicketIsShown(t, openLocks(t), func(ctx context.Context) (string, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		if err != nil {
			return "", err
		}
		response, err := client.Do(request)
		if err != nil {
			return "", err
		}
		return response.Header.Get("Shown"), errors.Join(response.Body.Close(), httpguard.Refusal(response))
	})
}

// TestHandlerLosesALockOfItsOwn: it was let in with the ticket of lock "outer" and takes another one, "inner", to write
// to a store that is guarded by that. It has lost "inner" meanwhile. Its request, made from the context of that lease,
// has to show the ticket of the lease and not that of its caller, or the stale holder writes.
func TestHandlerLosesALockOfItsOwn(t *testing.T) {
	t.Parallel()
	locks := openLocks(t)
	inner := guard.NewMemory(nil)
	writes := 0
	storage := httptest.NewServer(httpguard.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		writes++
	}), inner, nil))
	defer storage.Close()
	client := &http.Client{Transport: httpguard.NewTransport(nil)}

	var answer error
	service := httptest.NewServer(httpguard.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		lease, err := locks.Mutex("inner", nil).Lock(r.Context())
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = lease.Unlock(context.Background()) }()
		// Somebody else has it by now, and has announced it.
		if err := inner.Announce(r.Context(), guard.Ticket{Name: "inner", Token: lease.Token() + 1}); err != nil {
			t.Error(err)
		}
		if got, _ := guard.TicketFrom(lease.Context()); got != guard.Of(lease) {
			t.Errorf("the context of the lease of %q has the ticket %+v, want %+v", lease.Name(), got, guard.Of(lease))
		}
		request, _ := http.NewRequestWithContext(lease.Context(), http.MethodPut, storage.URL, nil)
		response, err := client.Do(request)
		if err != nil {
			t.Error(err)
			return
		}
		_ = response.Body.Close()
		answer = httpguard.Refusal(response)
	}), guard.NewMemory(nil), nil))
	defer service.Close()

	ctx := guard.ContextWithTicket(t.Context(), guard.Ticket{Name: "outer", Token: 7})
	request, _ := http.NewRequestWithContext(ctx, http.MethodPut, service.URL, nil)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if !errors.Is(answer, guard.ErrStale) || writes > 0 {
		t.Errorf("a stale holder of \"inner\" was let in: %v, %d writes", answer, writes)
	}
}

// TestServerHasALeaseItself: a service runs under a lease of its own, as a leader that serves, so its requests'
// contexts are made from that. A request without a ticket, which Optional lets through, has none.
func TestServerHasALeaseItself(t *testing.T) {
	t.Parallel()
	lease, err := openLocks(t).Mutex("leader", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got guard.Ticket
	var ok bool
	s := httptest.NewUnstartedServer(httpguard.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got, ok = guard.TicketFrom(r.Context())
	}), guard.NewMemory(nil), &httpguard.Options{Optional: true}))
	s.Config.BaseContext = func(net.Listener) context.Context { return lease.Context() }
	s.Start()
	defer s.Close()
	response, err := s.Client().Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if ok {
		t.Errorf("a request without a ticket came with %+v", got)
	}
}

// TestRequestWithoutHeaders: a transport must not panic. Nobody listens there.
func TestRequestWithoutHeaders(t *testing.T) {
	t.Parallel()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("panic: %v", p)
		}
	}()
	ctx := guard.ContextWithTicket(t.Context(), guard.Ticket{Name: "a", Token: 7})
	request, _ := http.NewRequestWithContext(ctx, http.MethodPut, "http://127.0.0.1:1", nil)
	request.Header = nil
	response, err := httpguard.NewTransport(nil).RoundTrip(request)
	if err == nil {
		_ = response.Body.Close()
	}
}
