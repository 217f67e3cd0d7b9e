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
		return err == nil && info.Owner == ""
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
