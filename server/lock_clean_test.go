package server_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/server"
)

// lateStore answers after its caller has gone: the lock is granted, and the error says
// that nobody knows. The grant of the second kind even comes after that.
type lateStore struct {
	driver.Backend
	asked    chan struct{}
	underway chan struct{} // nil: granted before the caller goes
	releases atomic.Int32
}

func (l *lateStore) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	if l.underway == nil {
		_, err := l.Backend.Acquire(context.WithoutCancel(ctx), req)
		close(l.asked)
		<-ctx.Done()
		return driver.Grant{}, errors.Join(err, ctx.Err())
	}
	close(l.asked)
	<-ctx.Done()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-l.underway
		_, _ = l.Backend.Acquire(context.WithoutCancel(ctx), req)
	}()
	return driver.Grant{}, &driver.UnderwayError{Err: ctx.Err(), Ended: ended}
}

func (l *lateStore) Release(ctx context.Context, g driver.Grant) (int, error) {
	defer l.releases.Add(1)
	return l.Backend.Release(ctx, g)
}

// leave asks for a lock for a day, and goes away while the store is at it.
func leave(t *testing.T, store *lateStore, body string) {
	t.Helper()
	c := config(t)
	c.Locks = store
	s := serve(t, c, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { <-store.asked; cancel() }()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+locks+"Acquire", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if res, err := http.DefaultClient.Do(req); err == nil {
		_ = res.Body.Close()
		t.Fatal("want the call to be broken off")
	}
	if store.underway != nil {
		eventually(t, func() bool { return store.releases.Load() > 0 }) // in vain
		close(store.underway)
	}
	eventually(t, func() bool { return store.releases.Load() >= 2 })
	eventually(t, func() bool {
		info, err := store.Backend.(driver.Inspector).Inspect(t.Context(), "a")
		return err == nil && len(info.Holders) == 0
	})
}

// TestDisconnectLeavesALock: the caller of an acquisition goes away, and its grant
// comes all the same. Nobody knows its owner.
func TestDisconnectLeavesALock(t *testing.T) {
	for name, body := range map[string]string{
		"at once": `{"name":"a","ttl":"86400s"}`, "waiting": `{"name":"a","ttl":"86400s","wait":"10s"}`,
	} {
		t.Run(name, func(t *testing.T) {
			leave(t, &lateStore{Backend: memlock.NewBackend(nil), asked: make(chan struct{})}, body)
		})
		t.Run(name+", the grant comes later", func(t *testing.T) {
			leave(t, &lateStore{
				Backend: memlock.NewBackend(nil), asked: make(chan struct{}), underway: make(chan struct{}),
			}, body)
		})
	}
}

// forgetful grants to a caller that goes away meanwhile, and does not take the first
// release.
type forgetful struct {
	driver.Backend
	granted  chan struct{}
	releases atomic.Int32
}

func (f *forgetful) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	g, err := f.Backend.Acquire(ctx, req)
	close(f.granted)
	<-ctx.Done()
	return g, err
}

func (f *forgetful) Release(ctx context.Context, g driver.Grant) (int, error) {
	if f.releases.Add(1) == 1 {
		return 0, driver.ErrUnavailable
	}
	return f.Backend.Release(ctx, g)
}

// TestGrantIsGivenBackThoughTheStoreIsAway: one release that fails must not leave a lock
// for a day, whose owner nobody knows.
func TestGrantIsGivenBackThoughTheStoreIsAway(t *testing.T) {
	memory := memlock.NewBackend(nil)
	store := &forgetful{Backend: memory, granted: make(chan struct{})}
	s := serve(t, setup{Services: server.Services{Locks: store}}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { <-store.granted; cancel() }()
	s.hang(ctx, locks+"Acquire", `{"name":"a","ttl":"86400s"}`)
	eventually(t, func() bool {
		info, err := memory.(driver.Inspector).Inspect(t.Context(), "a")
		return err == nil && len(info.Holders) == 0
	})
}
