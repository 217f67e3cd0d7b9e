package console_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/console"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// told is a store of locks that says what a test wants.
type told []lock.Info

func (l told) List(_ context.Context, prefix string, limit int) (found []lock.Info, _ error) {
	for _, i := range l {
		if strings.HasPrefix(i.Name, prefix) && i.Held() && len(found) < limit {
			found = append(found, i)
		}
	}
	return found, nil
}

func (l told) Inspect(_ context.Context, name string) (lock.Info, error) {
	for _, i := range l {
		if i.Name == name {
			return i, nil
		}
	}
	return lock.Info{Name: name}, nil
}

// newTold is a world whose store says what a test wants.
func newTold(t *testing.T, infos ...lock.Info) *world {
	t.Helper()
	return newWorld(t, func(o *console.Options) { o.Locks = told(infos) })
}

// heldBy is a mutex whose holder waits for others.
func heldBy(name, pid string, waits ...string) lock.Info {
	return lock.Info{Name: name, Token: 7, Holders: []lock.Holder{{
		Owner: "owner-of-" + name, TTL: 20 * time.Second, Since: time.Now().Add(-time.Minute), Waits: waits,
		Meta: map[string]string{"host": "web", "pid": pid},
	}}}
}

// another is a client as another process has it.
func (w *world) another(t *testing.T, host string) *lock.Client {
	t.Helper()
	c, err := memlock.New(w.store, &lock.Options{Meta: map[string]string{"role": host}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop(context.Background()) })
	return c
}

// queued has another process wait for a fair lock, and keep it until the test is over.
func (w *world) queued(t *testing.T, name, role string, place int) {
	t.Helper()
	w.waiting(t, w.another(t, role).Mutex(name, &lock.MutexOptions{Fair: true}))
	w.inspect(t, name, func(i *lock.Info) bool { return len(i.Line) == place })
}

// queuedTurn has another process wait for a lock that is not fair.
func (w *world) queuedTurn(t *testing.T, name string) {
	t.Helper()
	w.waiting(t, w.another(t, "next").Mutex(name, nil))
	w.inspect(t, name, func(i *lock.Info) bool { return i.Waiting > 0 })
}

func (w *world) waiting(t *testing.T, m *lock.Mutex) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		lease, err := m.Lock(ctx)
		if err == nil {
			<-ctx.Done()
			err = lease.Unlock(context.Background())
		}
		done <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// inspect waits until a lock is as wanted.
func (w *world) inspect(t *testing.T, name string, as func(*lock.Info) bool) {
	t.Helper()
	tick, end := time.NewTicker(5*time.Millisecond), time.After(10*time.Second)
	defer tick.Stop()
	for {
		found, err := w.locks.Inspect(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if as(&found) {
			return
		}
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("the lock never became as wanted: %+v", found)
		}
	}
}

// heldWaiting has another process hold a lock and say that it waits for another one, which is what package lock does
// after a second.
func (w *world) heldWaiting(t *testing.T, name, pid, waits string) {
	t.Helper()
	b := memlock.NewBackend(w.store)
	meta := driver.EncodeMeta(map[string]string{"host": "web", "pid": pid, "bedrock:waits": "exclusive  " + waits})
	g, err := b.Acquire(t.Context(), driver.Request{
		Name: name, Owner: "owner-" + pid, TTL: time.Minute, Tokens: 1, Meta: meta,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = b.Release(context.Background(), g)
		_ = b.Close()
	})
}

// lockAt is the address of a lock's page.
func lockAt(name string) string { return "/lock?name=" + url.QueryEscape(name) }
