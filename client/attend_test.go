package client_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/lock/quorum"
)

// holder returns a client of a server's locks.
func holder(t *testing.T, url string) *lock.Client {
	t.Helper()
	c, err := lock.New(dial(t, url, nil).Backend(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop(t.Context()) })
	return c
}

func take(t *testing.T, c *lock.Client, name string) *lock.Lease {
	t.Helper()
	lease, err := c.Mutex(name, nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// askUntilHeard asks until somebody can have heard it: who has just come may not listen yet.
func askUntilHeard(t *testing.T, c *lock.Client, name string) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; {
		told, err := c.Ask(t.Context(), name, "maintenance", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if told > 0 || time.Now().After(end) {
			if told != 1 {
				t.Fatalf("%d were told", told)
			}
			return
		}
		<-time.After(time.Millisecond)
	}
}

func wantAsked(t *testing.T, lease *lock.Lease) {
	t.Helper()
	select {
	case <-lease.Asked():
	case <-time.After(10 * time.Second):
		t.Fatal("the holder does not hear it")
	}
	p, _ := lease.Plea()
	if left := time.Until(p.By); p.Reason != "maintenance" || left < 40*time.Second || left > time.Minute {
		t.Errorf("asked for %+v", p)
	}
	if err := lease.Err(); err != nil {
		t.Errorf("the lease: %v", err)
	}
}

// TestHoldersAreDeafAtAServer: its own store, and several that make one.
func TestHoldersAreDeafAtAServer(t *testing.T) {
	nodes := make([]driver.Backend, 3)
	for i := range nodes {
		nodes[i] = memlock.NewBackend(nil)
	}
	voting, err := quorum.NewBackend(nodes, &quorum.Options{Quarantine: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = voting.Close() })
	for name, store := range map[string]driver.Backend{
		"memory": memlock.NewBackend(nil), "with faults": bedrocktest.NewBackend(memlock.NewBackend(nil)),
		"quorum": voting,
	} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, serving(t, store)).url()
			lease := take(t, holder(t, url), "a")
			if told, err := holder(t, url).Ask(t.Context(), "b", "", 0); told != 0 || err != nil {
				t.Errorf("of nobody %d were told, %v", told, err)
			}
			askUntilHeard(t, holder(t, url), "a")
			wantAsked(t, lease)
		})
	}
}

// TestForceIsFoundOutLate: who has the lock hears at once that it was taken away.
func TestForceIsFoundOutLate(t *testing.T) {
	url := serve(t, serving(t, memlock.NewBackend(nil))).url()
	lease := take(t, holder(t, url), "a")
	other := holder(t, url)
	askUntilHeard(t, other, "a")
	if held, err := other.ForceRelease(t.Context(), "a"); !held || err != nil {
		t.Fatal(held, err)
	}
	select {
	case <-lease.Context().Done():
	case <-time.After(5 * time.Second): // its renewal would be later
		t.Error("the holder does not hear it")
	}
}

// TestAnAttendantStaysAwayAfterARestart of its server, whose store is another process.
func TestAnAttendantStaysAwayAfterARestart(t *testing.T) {
	store := memlock.NewStore(nil)
	site := serve(t, serving(t, memlock.NewBackend(store)))
	lease := take(t, holder(t, site.url()), "a")
	askUntilHeard(t, holder(t, site.url()), "a")
	wantAsked(t, lease)
	site.end()
	site.start()
	askUntilHeard(t, holder(t, site.url()), "a")
}

// takeAs takes the lock a.
func takeAs(t *testing.T, b driver.Backend, owner string) {
	t.Helper()
	req := driver.Request{Name: "a", Owner: owner, TTL: time.Hour, Tokens: 1}
	if _, err := b.Acquire(t.Context(), req); err != nil {
		t.Fatal(err)
	}
}

// missing counts what may not have been heard.
func missing(b driver.Notifier) <-chan struct{} {
	missed := make(chan struct{}, 16)
	b.Notify(func(m driver.Message) {
		if m.Kind == driver.Missed {
			missed <- struct{}{}
		}
	})
	return missed
}

// TestWhatIsMissedIsNotTold, once there is a stream again.
func TestWhatIsMissedIsNotTold(t *testing.T) {
	store := memlock.NewStore(nil)
	site := serve(t, serving(t, memlock.NewBackend(store)))
	b := dial(t, site.url(), nil).Backend().(bundling)
	t.Cleanup(func() { _ = b.Close() })
	missed := missing(b)
	takeAs(t, b, "me:1")
	c, err := lock.New(memlock.NewBackend(store), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop(t.Context()) })
	askUntilHeard(t, c, "a")
	site.end()
	site.start()
	select {
	case <-missed:
	case <-time.After(20 * time.Second):
		t.Error("nothing is said of what was missed")
	}
}

// TestOldServersAreAskedForMessagesInALoop: they have none.
func TestOldServersAreAskedForMessagesInALoop(t *testing.T) {
	calls := make(chan string, 1000)
	inner := serving(t, struct{ driver.Backend }{memlock.NewBackend(nil)})
	b := remote(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls <- r.URL.Path
		inner.ServeHTTP(w, r)
	}))
	_ = missing(b)
	takeAs(t, b, "me:1")
	<-time.After(300 * time.Millisecond)
	if n := len(calls); n > 2 {
		t.Errorf("%d calls", n)
	}
}

// TestManyHoldersAreAskedAtOnce: one process has many permits of a semaphore. All of them were told, says the server,
// and so they have to hear it.
func TestManyHoldersAreAskedAtOnce(t *testing.T) {
	url := serve(t, serving(t, memlock.NewBackend(nil))).url()
	h, other := holder(t, url), holder(t, url)
	warm := take(t, h, "warm")
	askUntilHeard(t, other, "warm")
	wantAsked(t, warm)
	const permits = 400
	leases := make([]*lock.Lease, permits)
	for i := range leases {
		var err error
		if leases[i], err = h.Semaphore("s", permits, nil).Permits(1).Lock(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	told, err := other.Ask(t.Context(), "s", "maintenance", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	deaf := 0
	for _, l := range leases {
		select {
		case <-l.Asked():
		case <-ctx.Done():
			if _, asked := l.Plea(); !asked {
				deaf++
			}
		}
	}
	if deaf > 0 {
		t.Errorf("%d of %d holders were told, and %d of them have not heard it", told, permits, deaf)
	}
}

// TestAskOfAServerWhoseStoreHangs ends with its context.
func TestAskOfAServerWhoseStoreHangs(t *testing.T) {
	store := bedrocktest.NewBackend(memlock.NewBackend(nil))
	url := serve(t, serving(t, hangs{store})).url()
	h := holder(t, url)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := h.Ask(ctx, "a", "", 0)
	if took := time.Since(began); err == nil || took > 500*time.Millisecond {
		t.Errorf("it took %v: %v", took, err)
	}
}

// hangs is a store that does not answer who asks.
type hangs struct{ *bedrocktest.Backend }

func (hangs) Plead(ctx context.Context, _ string, _ driver.Plea) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}
