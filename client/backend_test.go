package client_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/server"
	"github.com/bedrock-go/bedrock/txn"
)

// silence takes requests and answers none.
type silence struct{}

func (silence) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestASilentServerKeepsHoldersForEver: an Unlock is most often given a context without an
// end, and whoever waits for the lock in the same process would wait for it, too.
func TestASilentServerKeepsHoldersForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, "http://bedrock.invalid", &client.Options{HTTP: &http.Client{Transport: silence{}}})
		b := c.Backend()
		defer func() { _ = b.Close() }()
		g := driver.Grant{Name: "a", Owner: "o", TTL: time.Minute}
		for what, call := range map[string]func(context.Context) error{
			"acquire": func(ctx context.Context) error {
				_, err := b.Acquire(ctx, driver.Request{Name: "a", Owner: "o", TTL: time.Minute, Tokens: 1})
				return err
			},
			"renew":   func(ctx context.Context) error { return b.Renew(ctx, []driver.Grant{g})[0] },
			"release": func(ctx context.Context) error { _, err := b.Release(ctx, g); return err },
		} {
			start := time.Now()
			if err := call(context.Background()); err == nil {
				t.Errorf("%s: no error", what)
			}
			if took := time.Since(start); took > 15*time.Second {
				t.Errorf("%s took %v", what, took)
			}
		}
	})
}

// heldUp is a store that comes to the first request for a lock when it is let.
type heldUp struct {
	driver.Backend
	asked   atomic.Int32
	let     chan struct{}
	granted chan error
}

// Acquire implements [driver.Backend].
func (s *heldUp) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	if s.asked.Add(1) > 1 {
		return s.Backend.Acquire(ctx, req)
	}
	<-s.let
	g, err := s.Backend.Acquire(ctx, req)
	s.granted <- err
	return g, err
}

// TestARequestUnderWayAtTheServerIsForgotten: its client has gone on under other owners, which were refused;
// who takes that for the last word leaves a lock that is granted yet.
func TestARequestUnderWayAtTheServerIsForgotten(t *testing.T) {
	store := memlock.NewStore(nil)
	slow := &heldUp{Backend: memlock.NewBackend(store), let: make(chan struct{}), granted: make(chan error, 1)}
	h, err := server.New(server.Services{Coordinator: instant{}, Locks: slow}, nil)
	if err != nil {
		t.Fatal(err)
	}
	held := driver.Grant{Name: "a", Owner: "other", TTL: time.Minute}
	if _, err := slow.Backend.Acquire(t.Context(), driver.Request{
		Name: held.Name, Owner: held.Owner, TTL: held.TTL, Tokens: 1,
	}); err != nil {
		t.Fatal(err)
	}
	locks, err := lock.New(dial(t, serve(t, h).url(), nil).Backend(), &lock.Options{
		TTL: time.Second, Patience: 200 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = locks.Stop(context.Background()) }()
	_, err = locks.Mutex("a", &lock.MutexOptions{Wait: 1500 * time.Millisecond}).Lock(t.Context())
	told := lock.MaybeApplied(err)
	if _, err := slow.Release(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	close(slow.let)
	if failed := <-slow.granted; failed != nil || slow.asked.Load() < 2 {
		t.Fatalf("not what this is about: %d requests, %v", slow.asked.Load(), failed)
	}
	if !told {
		t.Errorf("the store has granted it since: %v", err)
	}
}

// TestALongListIsCutSilently: whoever asks for more than a server tells is told so.
func TestALongListIsCutSilently(t *testing.T) {
	b := dial(t, serve(t, handler(t, engine(t, nil), nil)).url(), nil).Backend()
	defer func() { _ = b.Close() }()
	list := b.(driver.Inspector)
	if _, err := list.List(t.Context(), "", txn.MaxPage); err != nil {
		t.Error(err)
	}
	_, err := list.List(t.Context(), "", txn.MaxPage+1)
	if wrong, ok := errors.AsType[*input.Error](err); !ok || wrong.Field != "limit" {
		t.Errorf("want the limit to blame, got %v", err)
	}
}

// TestASmallLimitOfRequestsLosesLeases: a server may take small requests only, and how many
// leases a client has is not for it to know.
func TestASmallLimitOfRequestsLosesLeases(t *testing.T) {
	s := serve(t, handler(t, engine(t, nil), func(o *server.Options) { o.Limits = &server.Limits{Body: 4 << 10} }))
	b := dial(t, s.url(), nil).Backend()
	defer func() { _ = b.Close() }()
	var grants []driver.Grant
	for i := range 100 {
		g, err := b.Acquire(t.Context(), driver.Request{
			Name: fmt.Sprint(strings.Repeat("x", 500), i), Owner: "o", TTL: time.Minute, Tokens: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		grants = append(grants, g)
	}
	grants = append(grants, driver.Grant{Name: "other", Owner: "o", TTL: time.Minute})
	errs := b.Renew(t.Context(), grants)
	for i, err := range errs[:100] {
		if err != nil {
			t.Fatalf("grant %d: %v", i, err)
		}
	}
	if errs[100] == nil {
		t.Error("what was never granted is renewed")
	}
}

// TestADoubtIsToldAsUnavailable: that word says that nothing has happened, and nobody knows.
func TestADoubtIsToldAsUnavailable(t *testing.T) {
	hangUp := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	}))
	defer hangUp.Close()
	b := dial(t, hangUp.URL, nil).Backend()
	defer func() { _ = b.Close() }()
	_, err := b.Acquire(t.Context(), driver.Request{Name: "a", Owner: "o", TTL: time.Minute, Tokens: 1})
	if err == nil || errors.Is(err, driver.ErrUnavailable) || strings.Contains(err.Error(), "unavailable") {
		t.Errorf("got %v", err)
	}
}

// TestAForcedReleaseIsAuditedWithoutItsReason: that of the options, and without one that it was a program.
func TestAForcedReleaseIsAuditedWithoutItsReason(t *testing.T) {
	for reason, want := range map[string]string{"": "ForceRelease by a program", "it hangs": "it hangs"} {
		var log strings.Builder
		s := serve(t, handler(t, nil, func(o *server.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) }))
		b := dial(t, s.url(), &client.Options{ForceReason: reason}).Backend()
		if held, err := b.(driver.Forcer).ForceRelease(t.Context(), "a"); held || err != nil {
			t.Error(held, err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if !strings.Contains(log.String(), fmt.Sprintf("reason=%q", want)) {
			t.Errorf("the audit trail has no %q:\n%s", want, log.String())
		}
	}
}

// TestAForcedReleaseThatWasNotSentIsInDoubt: who finds no server has taken nothing away from
// anybody. Who was hung up on, or told by somebody on the way that there is none, cannot know.
func TestAForcedReleaseThatWasNotSentIsInDoubt(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	hangUp := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	}))
	defer hangUp.Close()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "nobody is there", http.StatusServiceUnavailable)
	}))
	defer proxy.Close()
	for url, want := range map[string]bool{gone.URL: false, hangUp.URL: true, proxy.URL: true} {
		locks, err := lock.New(dial(t, url, nil).Backend(), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = locks.ForceRelease(t.Context(), "a")
		if err == nil || lock.MaybeApplied(err) != want {
			t.Errorf("want an error that is in doubt: %v; got %v", want, err)
		}
		if err := locks.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
