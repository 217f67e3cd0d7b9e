package locktest

import (
	"errors"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// names: different names never meet, and the others are refused beforehand.
func names() []behaviour {
	return []behaviour{
		{name: "NamesMeet", run: namesMeet},
		{name: "BadNameReachesTheStore", run: badNameReachesTheStore},
		{name: "ReservedOwnerHasEveryLock", run: reservedOwnerHasEveryLock},
	}
}

// namesMeet holds every name of the corpus at the same time, so that each meets
// all others, then frees every second and looks at who is left.
func namesMeet(e *env) {
	a, b := e.client(&lock.Options{TTL: time.Hour}), e.client(nil)
	corpus := e.accepted(e.store())
	leases := make([]*lock.Lease, len(corpus))
	for i, name := range corpus {
		leases[i] = e.apart(a, name)
	}
	for i := 0; i < len(leases); i += 2 {
		e.unlock(leases[i])
	}
	for i, name := range corpus {
		if i%2 == 0 {
			e.free(b, name)
			continue
		}
		e.refused(b, name)
		e.unlock(leases[i])
	}
}

// apart takes a name that nobody holds, while others hold the rest.
func (e *env) apart(c *lock.Client, name string) *lock.Lease {
	e.Helper()
	lease, err := c.Mutex(name, nil).TryLock(e.contextFor(soon))
	if err != nil {
		e.Fatalf("%q meets another name: %v", name, err)
	}
	return lease
}

// accepted returns the corpus without the names the backend refuses to take.
func (e *env) accepted(b *bedrocktest.Backend) (names []string) {
	e.Helper()
	for _, name := range corpus() {
		g, err := b.Acquire(e.contextFor(soon), e.request(name, e.long))
		switch {
		case err == nil:
			e.release(b, g)
			names = append(names, name)
			e.names[name] = true
		case !errors.Is(err, driver.ErrRefused):
			e.Errorf("name %q: want a grant or ErrRefused, got %v", name, err)
		}
	}
	if len(names) < len(corpus())*9/10 {
		e.Errorf("%d of %d names were refused", len(corpus())-len(names), len(corpus()))
	}
	return names
}

func badNameReachesTheStore(e *env) {
	a, link := e.faultyClient(nil)
	for problem, name := range badNames() {
		_, err := a.Mutex(name, nil).TryLock(e.Context())
		if !errors.Is(err, lock.ErrInvalid) || !strings.Contains(err.Error(), "name") {
			e.Errorf("%s: want ErrInvalid naming the name, got %v", problem, err)
		}
		if _, err := a.Inspect(e.Context(), name); !errors.Is(err, lock.ErrInvalid) {
			e.Errorf("inspect, %s: want ErrInvalid, got %v", problem, err)
		}
	}
	if n := link.AllCalls(); n != 0 {
		e.Errorf("%d calls reached the store", n)
	}
	e.free(a, e.name(strings.Repeat("x", lock.MaxName-len(e.prefix))))
}

// reservedOwnerHasEveryLock comes to a lock that is held under the names of what a
// store may keep beside its holder.
func reservedOwnerHasEveryLock(e *env) {
	a, b, name := e.client(nil), e.store(), e.name("a")
	lease := e.lockSoon(a, name, nil)
	for _, owner := range badOwners() {
		req := e.request(name, e.long)
		req.Owner = owner
		g, err := b.Acquire(e.contextFor(soon), req)
		if !errors.Is(err, driver.ErrRefused) {
			e.Errorf("held by %s, asked for by %q: want ErrRefused, got token %d and %v",
				lease.Owner(), owner, g.Token, err)
		}
		g = driver.Grant{Name: name, Owner: owner, TTL: e.long}
		if err := b.Renew(e.contextFor(soon), []driver.Grant{g})[0]; !errors.Is(err, driver.ErrRefused) {
			e.Errorf("renewed by %q: want ErrRefused, got %v", owner, err)
		}
		if _, err := b.Release(e.contextFor(soon), g); !errors.Is(err, driver.ErrRefused) {
			e.Errorf("released by %q: want ErrRefused, got %v", owner, err)
		}
	}
	e.unlock(lease)
}
