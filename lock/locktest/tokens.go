package locktest

import (
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
)

// tokens: every holder has a higher one than all before it.
func tokens() []behaviour {
	return []behaviour{
		{name: "TokenGoesBack", run: tokenGoesBack},
		{name: "TokenGoesBackAfterABlock", run: tokenGoesBackAfterABlock},
		{name: "TokenGoesBackAfterExpiry", run: tokenGoesBackAfterExpiry},
		{name: "TokenIsHandedOnTwice", run: tokenIsHandedOnTwice},
	}
}

// tokenGoesBack takes turns between two clients, each of which would repeat
// tokens if it counted for itself.
func tokenGoesBack(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	var last uint64
	for range 10 {
		for _, c := range []*lock.Client{a, b} {
			last = e.tokenAfter(c, name, last)
		}
	}
}

// tokenGoesBackAfterABlock reserves tokens past the front.
func tokenGoesBackAfterABlock(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	var next uint64
	for _, n := range []int{1, 100, 1, 7, 65536, 1} {
		for _, store := range []*bedrocktest.Backend{a, b} {
			req := e.request(name, e.long)
			req.Tokens = n
			g := e.grant(store, req)
			if g.Token < next {
				e.Fatalf("token %d was given, but all below %d have been reserved", g.Token, next)
			}
			next = g.Token + uint64(g.Tokens)
			e.release(store, g)
		}
	}
}

func tokenGoesBackAfterExpiry(e *env) {
	a, b, name := e.store(), e.client(nil), e.name("a")
	req := e.request(name, e.ttl)
	req.Tokens = 50
	g := e.grant(a, req)
	lease, err := b.Mutex(name, nil).Lock(e.contextFor(e.ttl + soon))
	if err != nil {
		e.Fatalf("take over: %v", err)
	}
	if lease.Token() < g.Token+uint64(g.Tokens) {
		e.Errorf("token %d was given, but %d from %d on had been reserved", lease.Token(), g.Tokens, g.Token)
	}
	e.unlock(lease)
}

// tokenIsHandedOnTwice lets many goroutines of two clients pass the lock on.
func tokenIsHandedOnTwice(e *env) {
	var (
		group sync.WaitGroup
		last  uint64 // guarded by the lock under test
		name  = e.name("a")
	)
	for range 2 {
		client := e.client(&lock.Options{HandOff: lock.HandOff{Time: time.Hour}})
		for range 8 {
			group.Go(func() {
				for range 5 {
					lease, err := client.Mutex(name, nil).Lock(e.Context())
					if err != nil {
						e.Errorf("lock: %v", err)
						return
					}
					if lease.Token() <= last {
						e.Errorf("token %d after %d", lease.Token(), last)
					}
					last = lease.Token()
					time.Sleep(100 * time.Microsecond) // so that the others queue up
					if err := lease.Unlock(e.Context()); err != nil {
						e.Errorf("unlock: %v", err)
					}
				}
			})
		}
	}
	group.Wait()
}

// tokenAfter takes the lock once and checks its token.
func (e *env) tokenAfter(c *lock.Client, name string, last uint64) uint64 {
	e.Helper()
	lease := e.lockSoon(c, name, nil)
	if lease.Token() <= last {
		e.Fatalf("token %d after %d", lease.Token(), last)
	}
	e.unlock(lease)
	return lease.Token()
}
