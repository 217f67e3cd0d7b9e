package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/server"
)

// counter is a server of locks in memory that counts the requests for one.
type counter struct {
	http.Handler
	asked atomic.Int32
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/Acquire") {
		c.asked.Add(1)
	}
	c.Handler.ServeHTTP(w, r)
}

// serveLine runs it, with a first holder of the lock a, which holds for a minute.
func serveLine(
	t *testing.T, limits *server.Limits,
) (url string, c *counter, store driver.Backend, holder driver.Grant) {
	t.Helper()
	memory := memlock.NewStore(nil)
	h, err := server.New(server.Services{Locks: memlock.NewBackend(memory)}, &server.Options{Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	c = &counter{Handler: h}
	store = memlock.NewBackend(memory)
	holder, err = store.Acquire(t.Context(), driver.Request{Name: "a", Owner: "first", TTL: time.Minute, Tokens: 1})
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, c).url(), c, store, holder
}

func inLine(owner string, ttl time.Duration) driver.Request {
	return driver.Request{Name: "a", Owner: owner, TTL: ttl, Tokens: 1, Fair: true, Waits: true}
}

// askInLine makes one request, and returns its refusal and how long that took.
func askInLine(t *testing.T, ctx context.Context, url string, req driver.Request) (*driver.HeldError, time.Duration) {
	t.Helper()
	b := dial(t, url, nil).Backend()
	defer b.Close()
	start := time.Now()
	_, err := b.Acquire(ctx, req)
	held, ok := errors.AsType[*driver.HeldError](err)
	if !ok {
		t.Fatal(err)
	}
	return held, time.Since(start)
}

// standInLine returns when so many stand in line.
func standInLine(t *testing.T, store driver.Backend, n int) {
	t.Helper()
	eventually(t, func() bool {
		info, err := store.(driver.Inspector).Inspect(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		return len(info.Line) == n
	})
}

// eventually returns when it holds.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatal("waited in vain")
		}
	}
}

// TestWhoStandsInLineWaitsAtTheServer and is back in good time: for its caller, and for what it is granted.
func TestWhoStandsInLineWaitsAtTheServer(t *testing.T) {
	url, _, _, _ := serveLine(t, nil)
	for name, tc := range map[string]struct {
		ttl, patience, least, most time.Duration
	}{
		"at most":         {time.Minute, 0, 2 * time.Second, 2500 * time.Millisecond},
		"caller in haste": {time.Minute, 900 * time.Millisecond, 150 * time.Millisecond, 600 * time.Millisecond},
		"short lease":     {time.Second, 0, 250 * time.Millisecond, 750 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			if tc.patience > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, tc.patience)
				defer cancel()
			}
			held, took := askInLine(t, ctx, url, inLine(name, tc.ttl))
			if held.Place < 1 || held.Again != time.Nanosecond || took < tc.least || took > tc.most {
				t.Errorf("after %s: %+v", took, held)
			}
		})
	}
}

// TestAServerThatDoesNotWaitIsAskedInALoop: the next request is made in time for the place, and no sooner.
func TestAServerThatDoesNotWaitIsAskedInALoop(t *testing.T) {
	url, c, _, _ := serveLine(t, &server.Limits{Wait: time.Millisecond})
	held, took := askInLine(t, t.Context(), url, inLine("b", time.Minute))
	if held.Again < time.Second || took > time.Second {
		t.Errorf("after %s: %+v", took, held)
	}
	client := locksOf(t, url)
	c.asked.Store(0)
	_, err := client.Mutex("a", &lock.MutexOptions{Fair: true, Wait: time.Second}).Lock(t.Context())
	if n := c.asked.Load(); !errors.Is(err, lock.ErrHeld) || n > 5 {
		t.Errorf("asked %d times, and then: %v", n, err)
	}
}

// locksOf is a client of package lock.
func locksOf(t *testing.T, url string) *lock.Client {
	t.Helper()
	c, err := lock.New(dial(t, url, nil).Backend(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop(context.WithoutCancel(t.Context())) })
	return c
}

// TestAWaitInLineEndsInDoubt: its last request must have its answer in time, unless the machine is slow.
func TestAWaitInLineEndsInDoubt(t *testing.T) {
	for range 4 {
		if waitEndsInARefusal(t) {
			return
		}
	}
	t.Error("each time the last request was broken off")
}

func waitEndsInARefusal(t *testing.T) bool {
	t.Helper()
	url, c, store, _ := serveLine(t, nil)
	start := time.Now()
	opts := &lock.MutexOptions{Fair: true, Wait: 1500 * time.Millisecond}
	_, err := locksOf(t, url).Mutex("a", opts).Lock(t.Context())
	if lock.MaybeApplied(err) {
		return false
	}
	if held, ok := errors.AsType[*lock.HeldError](err); !ok || held.Place != 1 {
		t.Errorf("told as %v", err)
	}
	if took, n := time.Since(start), c.asked.Load(); took > 2500*time.Millisecond || n > 15 {
		t.Errorf("it took %s and %d requests", took, n)
	}
	info, err := store.(driver.Inspector).Inspect(t.Context(), "a")
	if err != nil || len(info.Line) > 0 {
		t.Errorf("in line: %v, error %v", info.Line, err)
	}
	return true
}

// TestACallerThatLeavesKeepsItsPlace, if nobody tells the server: others wait for it then.
func TestACallerThatLeavesKeepsItsPlace(t *testing.T) {
	url, _, store, first := serveLine(t, nil)
	client := locksOf(t, url)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	gone := make(chan error, 1)
	go func() {
		_, err := client.Mutex("a", &lock.MutexOptions{Fair: true}).Lock(ctx)
		gone <- err
	}()
	standInLine(t, store, 1)
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("told as %v", err)
	}
	start := time.Now()
	standInLine(t, store, 0)
	if took := time.Since(start); took > time.Second {
		t.Errorf("it stood there for %s", took)
	}
	if _, err := store.Release(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Mutex("a", nil).TryLock(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestFairLocksOverTheWire: each has the lock in its turn, and at once.
func TestFairLocksOverTheWire(t *testing.T) {
	url, c, store, first := serveLine(t, nil)
	const n = 4
	order := make(chan int, n)
	var all sync.WaitGroup
	defer all.Wait()
	for i := range n {
		m := locksOf(t, url).Mutex("a", &lock.MutexOptions{Fair: true})
		all.Go(func() {
			lease, err := m.Lock(t.Context())
			if err != nil {
				t.Error(err)
				order <- -1
				return
			}
			order <- i
			if err := lease.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		})
		standInLine(t, store, i+1)
	}
	eventually(t, func() bool { return c.asked.Load() > 2*n }) // for longer than one request waits
	start := time.Now()
	if _, err := store.Release(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if got := <-order; got != i {
			t.Errorf("number %d has the lock, it is the turn of %d", got, i)
		}
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("it took %s", took)
	}
}
