package locktest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

const (
	// promptly is how soon a call must return when its context has ended.
	promptly = 200 * time.Millisecond
	// soon is how long something may take that needs no lease to end.
	soon = 2 * time.Second
	// cleanUp is how long closing a client may take.
	cleanUp = 10 * time.Second
)

// env is what a behaviour works with: a server, and the clients made on it.
type env struct {
	testing.TB
	server Server
	prefix string        // of this behaviour's names
	ttl    time.Duration // of leases that end while we look
	long   time.Duration // of leases that do not
	names  map[string]bool
	told   func(owner string) string // what others are told of an owner

	virtual bool // time passes at once
	exempt  map[Capability]string
}

// lacks reports whether the backend is exempt from a capability.
func (e *env) lacks(c Capability) bool {
	_, exempt := e.exempt[c]
	return exempt
}

func newEnv(t testing.TB, b *Backend, behaviour *behaviour) *env {
	t.Helper()
	e := &env{
		TB: t, server: b.Open(t), ttl: b.TTL, long: 20 * b.TTL,
		prefix: t.Name() + "/", names: make(map[string]bool), told: b.publicOwner, virtual: b.Virtual,
		exempt: b.Exempt,
	}
	for _, c := range behaviour.needs {
		if !e.server.isAble(c) {
			t.Fatalf("the server has nothing for %s: exempt it and say why", c)
		}
	}
	e.after(e.checkResidue)
	return e
}

// after runs check when all clients have been closed, unless the behaviour has
// failed anyway.
func (e *env) after(check func()) {
	e.Cleanup(func() {
		if !e.Failed() {
			check()
		}
	})
}

// name returns a lock name that no other behaviour uses.
func (e *env) name(short string) string {
	e.names[e.prefix+short] = true
	return e.prefix + short
}

// store connects to the store without a front.
func (e *env) store() *bedrocktest.Backend {
	e.Helper()
	f := e.connect()
	e.Cleanup(func() {
		f.Thaw()
		if err := f.Close(); err != nil {
			e.Errorf("close the backend: %v", err)
		}
	})
	return f
}

func (e *env) connect() *bedrocktest.Backend {
	e.Helper()
	b := e.server.Connect(e.TB)
	if _, own := b.(driver.Timekeeper); e.virtual && !own {
		e.Fatalf("%T is no driver.Timekeeper, which Virtual needs: its leases would be judged by the clock of "+
			"the machine, which stands still in a bubble", b)
	}
	return bedrocktest.NewBackend(b)
}

// client makes a client of its own connection.
func (e *env) client(opts *lock.Options) *lock.Client {
	e.Helper()
	c, _ := e.faultyClient(opts)
	return c
}

// faultyClient makes a client, and returns what it can be made to fail with.
func (e *env) faultyClient(opts *lock.Options) (*lock.Client, *bedrocktest.Backend) {
	e.Helper()
	f := e.connect()
	c := e.newClient(f, opts)
	e.Cleanup(f.Thaw)
	return c, f
}

// newClient makes a client of a backend.
func (e *env) newClient(b driver.Backend, opts *lock.Options) *lock.Client {
	e.Helper()
	c, err := lock.New(b, opts)
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), cleanUp)
		defer cancel()
		if err := c.Stop(ctx); err != nil {
			e.Errorf("close the client: %v", err)
		}
	})
	return c
}

// contextFor returns a context that ends after d.
func (e *env) contextFor(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(e.Context(), d)
	e.Cleanup(cancel)
	return ctx
}

// lockSoon takes a lock that must be had soon.
func (e *env) lockSoon(c *lock.Client, name string, opts *lock.MutexOptions) *lock.Lease {
	e.Helper()
	var bounded lock.MutexOptions
	if opts != nil {
		bounded = *opts
	}
	bounded.Wait = soon // a deadline of the context would end the lease's, too
	lease, err := c.Mutex(name, &bounded).Lock(e.Context())
	if err != nil {
		e.Fatalf("lock: %v", err)
	}
	return lease
}

func (e *env) unlock(l *lock.Lease) {
	e.Helper()
	if err := l.Unlock(e.contextFor(soon)); err != nil {
		e.Fatalf("unlock: %v", err)
	}
}

// refused checks that the client cannot have the lock now.
func (e *env) refused(c *lock.Client, name string) {
	e.Helper()
	lease, err := c.Mutex(name, nil).TryLock(e.contextFor(soon))
	if err == nil {
		e.Fatalf("%q was granted with token %d while it was held", name, lease.Token())
	}
	if !errors.Is(err, lock.ErrHeld) {
		e.Fatalf("want ErrHeld, got %v", err)
	}
}

// refusedDuring checks that the client cannot have the lock as long as the lease lasts.
// This goroutine may come so late that it is over.
func (e *env) refusedDuring(held *lock.Lease, c *lock.Client) {
	e.Helper()
	lease, err := c.Mutex(held.Name(), nil).TryLock(e.contextFor(soon))
	switch {
	case err == nil && held.Err() == nil:
		e.Fatalf("%q was granted with token %d while its holder had it by the clock", held.Name(), lease.Token())
	case err == nil:
		e.unlock(lease)
	case !errors.Is(err, lock.ErrHeld):
		e.Fatalf("want ErrHeld, got %v", err)
	}
}

// free checks that the client can have the lock now.
func (e *env) free(c *lock.Client, name string) {
	e.Helper()
	lease, err := c.Mutex(name, nil).TryLock(e.contextFor(soon))
	if err != nil {
		e.Fatalf("%q is not free: %v", name, err)
	}
	e.unlock(lease)
}

// becomesFree checks that the lock can be had within d.
func (e *env) becomesFree(c *lock.Client, name string, d time.Duration) {
	e.Helper()
	lease, err := c.Mutex(name, nil).Lock(e.contextFor(d))
	if err != nil {
		e.Fatalf("%q is still not free after %s: %v", name, d, err)
	}
	e.unlock(lease)
}

// ends checks that the lease's context ends with ErrLost within d.
func (e *env) ends(l *lock.Lease, d time.Duration) {
	e.Helper()
	select {
	case <-l.Context().Done():
	case <-e.limit(d).over:
		e.Fatalf("the lease's context has not ended after %s, its state is %s", d, l.State())
	}
	e.lost(context.Cause(l.Context()))
	e.lost(l.Err())
	if l.State() != lock.Lost {
		e.Fatalf("the state of a lost lease is %s", l.State())
	}
}

// lost checks that an error says ErrLost.
func (e *env) lost(err error) {
	e.Helper()
	if !errors.Is(err, lock.ErrLost) {
		e.Fatalf("want ErrLost, got %v", err)
	}
}

// eventually waits until cond holds.
func (e *env) eventually(what string, cond func() bool) {
	e.Helper()
	for end := time.Now().Add(cleanUp); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			e.Fatalf("waited %s in vain: %s", cleanUp, what)
		}
	}
}

// always looks again and again for as long as d that check passes.
func (e *env) always(d time.Duration, check func()) {
	e.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(d / 20) {
		check()
	}
}

// newOwner returns an owner id in the form the front uses.
func newOwner() string { return strings.ToLower(rand.Text()) + ":1" }

// request returns a request for an exclusive grant.
func (e *env) request(name string, ttl time.Duration) driver.Request {
	return driver.Request{Name: name, Owner: newOwner(), TTL: ttl, Tokens: 1}
}

// grant takes a grant from the store, past the front.
func (e *env) grant(b driver.Backend, req driver.Request) driver.Grant {
	e.Helper()
	g, err := b.Acquire(e.contextFor(soon), req)
	if err != nil {
		e.Fatalf("acquire %q: %v", req.Name, err)
	}
	if g.Name != req.Name || g.Owner != req.Owner || g.TTL != req.TTL || g.Tokens < 1 || g.Token == 0 {
		e.Fatalf("the grant %+v does not fit the request %+v", g, req)
	}
	return g
}

// requestIn returns a request in a mode; for permits, one of three.
func (e *env) requestIn(mode driver.Mode, name string, ttl time.Duration) driver.Request {
	req := e.request(name, ttl)
	if req.Mode = mode; mode == driver.Permit {
		req.Permits, req.Limit = 1, 3
	}
	return req
}

// heldBy checks that the store refuses a request, and names nobody else than one of those.
func (e *env) heldBy(b driver.Backend, req driver.Request, owners ...string) {
	e.Helper()
	_ = e.refusalOf(b, req, owners...)
}

// refusalOf returns how the store refuses a request, naming nobody else than one of those.
func (e *env) refusalOf(b driver.Backend, req driver.Request, owners ...string) *driver.HeldError {
	e.Helper()
	g, err := b.Acquire(e.contextFor(soon), req)
	refusal, ok := errors.AsType[*driver.HeldError](err)
	if !ok {
		e.Fatalf("acquire %q, mode %s: want a *driver.HeldError, got %v and token %d", req.Name, req.Mode, err, g.Token)
	}
	known := func(owner string) bool { return refusal.Owner == e.told(owner) }
	if refusal.Owner != "" && !slices.ContainsFunc(owners, known) {
		e.Errorf("held by %q, want one of %q", refusal.Owner, owners)
	}
	return refusal
}

// giveUp gives an owner up that was refused.
func (e *env) giveUp(b driver.Backend, req driver.Request) {
	e.Helper()
	if _, err := b.Release(e.contextFor(soon), req.Ungranted()); !errors.Is(err, driver.ErrLost) {
		e.Errorf("release of what was not granted: want ErrLost, got %v", err)
	}
}

// denied checks that the store refuses the name to a stranger, and names no other
// holder than the one it has. It returns for how long, as the store says, that one has it.
func (e *env) denied(b driver.Backend, held driver.Grant) (left time.Duration) {
	e.Helper()
	_, err := b.Acquire(e.contextFor(soon), e.request(held.Name, e.ttl))
	refusal, ok := errors.AsType[*driver.HeldError](err)
	if !ok {
		e.Fatalf("acquire a lock that is held: want a *driver.HeldError, got %v", err)
	}
	if refusal.Owner != "" && refusal.Owner != e.told(held.Owner) {
		e.Errorf("held by %q, want %q", refusal.Owner, e.told(held.Owner))
	}
	return refusal.TTL
}

// release gives a grant back, past the front.
func (e *env) release(b driver.Backend, g driver.Grant) {
	e.Helper()
	if _, err := b.Release(e.contextFor(soon), g); err != nil {
		e.Fatalf("release %q: %v", g.Name, err)
	}
}

// waiter is a Lock under way in a goroutine of its own.
type waiter struct {
	lease *lock.Lease
	err   error
	done  chan struct{}
}

// startWaiting begins to wait for a lock.
func (e *env) startWaiting(ctx context.Context, m *lock.Mutex) *waiter {
	w := &waiter{done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.lease, w.err = m.Lock(ctx)
	}()
	return w
}

// served checks that the waiter has the lock within d.
func (e *env) served(w *waiter, d time.Duration) *lock.Lease {
	e.Helper()
	e.waitOver(w, d)
	if w.err != nil {
		e.Fatalf("the waiter got no lock: %v", w.err)
	}
	return w.lease
}

// waitOver checks that the wait ends within d, one way or the other.
func (e *env) waitOver(w *waiter, d time.Duration) {
	e.Helper()
	select {
	case <-w.done:
	case <-e.limit(d).over:
		e.Fatalf("still waiting after %s", d)
	}
}

// numbered names a thing in a loop.
func numbered(i int) string { return fmt.Sprintf("n-%d", i) }

// queued waits until n goroutines of the client are in the queue behind the one
// at its front. Without inspection it cannot tell, and does not wait.
func (e *env) queued(c *lock.Client, name string, n int) {
	e.Helper()
	e.eventually(fmt.Sprintf("%d goroutines are queued", n), func() bool {
		info, err := c.Inspect(e.contextFor(soon), name)
		return info.Local >= n || errors.Is(err, lock.ErrUnsupported)
	})
}

// background returns a context for what happens after the behaviour.
func (e *env) background() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), cleanUp)
	e.Cleanup(cancel)
	return ctx
}
