package sqltest

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/chaos"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// Cut is the test of a network that is cut without a word while a transaction ends.
type Cut struct {
	Site *Site
	Open func(*sql.DB) (driver.Backend, error)
	// Mode is that of the grants.
	Mode driver.Mode
	// Settings are what the address of the database ends with.
	Settings string
	// Commit is how the end of a transaction begins on the wire, and LookEnd that of one that reads.
	Commit, LookEnd string
}

// behind returns a proxy in front of the site, and where a database of the test's own is behind it.
func (c *Cut) behind(t *testing.T) (proxy *chaos.Proxy, dsn string) {
	t.Helper()
	proxy, err := chaos.New(c.Site.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	return proxy, strings.Replace(c.Site.Fresh(t), c.Site.Addr(), proxy.Addr(), 1) + c.Settings
}

// EndsNever has requests about a grant be made whose transactions get no answer to their end. Each ends with its
// context, and the backend can be closed.
func (c *Cut) EndsNever(t *testing.T) {
	t.Helper()
	for name, request := range map[string]func(ctx context.Context, b driver.Backend, g driver.Grant) error{
		"Acquire": func(ctx context.Context, b driver.Backend, g driver.Grant) error {
			req := c.request()
			req.Name, req.Owner = g.Name, "o:2"
			_, err := b.Acquire(ctx, req)
			return err
		},
		"Release": func(ctx context.Context, b driver.Backend, g driver.Grant) error {
			_, err := b.Release(ctx, g)
			return err
		},
		"Renew": func(ctx context.Context, b driver.Backend, g driver.Grant) error {
			return b.Renew(ctx, []driver.Grant{g})[0]
		},
		"ForceRelease": func(ctx context.Context, b driver.Backend, g driver.Grant) error {
			_, err := b.(driver.Forcer).ForceRelease(ctx, g.Name)
			return err
		},
		"Inspect": func(ctx context.Context, b driver.Backend, g driver.Grant) error {
			_, err := b.(driver.Inspector).Inspect(ctx, g.Name)
			return err
		},
	} {
		t.Run(c.Mode.String()+name, func(t *testing.T) { c.endsNever(t, request) })
	}
}

func (c *Cut) request() driver.Request {
	req := Request("a", "o:1")
	req.Mode = c.Mode
	return req
}

// Limits of time: what a request has, and by how much it may be late.
const (
	cutTime  = 300 * time.Millisecond
	lateTime = 200 * time.Millisecond
)

func (c *Cut) endsNever(t *testing.T, request func(context.Context, driver.Backend, driver.Grant) error) {
	t.Helper()
	proxy, dsn := c.behind(t)
	b := c.Site.Backend(t, dsn, c.Open)
	g, err := b.Acquire(t.Context(), c.request())
	if err == nil {
		err = b.Renew(t.Context(), []driver.Grant{g})[0]
	}
	if err != nil {
		t.Fatal(err)
	}
	word := c.Commit
	if strings.HasSuffix(t.Name(), "Inspect") {
		word = c.LookEnd
	}
	const all = 100
	proxy.StrandAfter(word, all)
	ctx, cancel := context.WithTimeout(t.Context(), cutTime)
	defer cancel()
	endsWithin(t, cutTime+lateTime, "the request", func() { _ = request(ctx, b, g) })
	endsWithin(t, time.Second, "Close", func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	if proxy.Evidence().BytesSwallowed == 0 {
		t.Error("nothing was cut")
	}
}

// ClosesNever has a network be cut at all times. Whoever releases is told in time, and the backend can be closed.
func (c *Cut) ClosesNever(t *testing.T) {
	t.Helper()
	proxy, dsn := c.behind(t)
	b := c.Site.Backend(t, dsn, c.Open)
	g, err := b.Acquire(t.Context(), c.request())
	if err != nil {
		t.Fatal(err)
	}
	proxy.BlackHole(chaos.Both)
	ctx, cancel := context.WithTimeout(t.Context(), cutTime)
	defer cancel()
	endsWithin(t, cutTime+lateTime, "Release", func() {
		if _, err := b.Release(ctx, g); err == nil {
			t.Error("nobody has heard of it")
		}
	})
	endsWithin(t, time.Second, "Close", func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
}

// endsWithin fails if something goes on for longer.
func endsWithin(t *testing.T, limit time.Duration, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		do()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(limit):
		t.Errorf("%s goes on after %s", what, limit)
	}
}

// LosesOthers has one connection of a pool be forgotten by a router while a grant is renewed over it: all others are
// well, and so are the leases.
func (c *Cut) LosesOthers(t *testing.T) {
	t.Helper()
	proxy, dsn := c.behind(t)
	client, err := lock.New(c.Site.Backend(t, dsn, c.Open), &lock.Options{TTL: 2 * LeaseTime})
	if err != nil {
		t.Fatal(err)
	}
	StopAfter(t, client)
	plain, err := client.Mutex("plain", nil).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	read, err := client.RWMutex("read", nil).RLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	proxy.StrandAfter(c.Commit, 1)
	select {
	case <-plain.Context().Done():
	case <-read.Context().Done():
	case <-time.After(4 * LeaseTime):
	}
	for name, lease := range map[string]*lock.Lease{"plain": plain, "read": read} {
		if err := context.Cause(lease.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if proxy.Evidence().BytesSwallowed == 0 {
		t.Error("nothing was cut")
	}
}
