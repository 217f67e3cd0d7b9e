package locktest

import (
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// voting: a store that is one of several gives the tokens that the others give, too, and does not count if it may
// have forgotten who has the lock.
func voting() []behaviour {
	needs := []Capability{Voting}
	return []behaviour{
		{name: "TokenIsNotAboveWhatWasAsked", run: tokenIsNotAboveWhatWasAsked, needs: needs},
		{name: "TokenSkipsWithoutNeed", run: tokenSkipsWithoutNeed, needs: needs},
		{name: "OwnGrantKeepsOldTokens", run: ownGrantKeepsOldTokens, needs: needs},
		{name: "RaisedGrantKeepsItsEnd", run: raisedGrantKeepsItsEnd, needs: needs},
		{name: "AgeIsIgnored", run: ageIsIgnored, needs: needs},
		{name: "AgeHidesTheHolder", run: ageHidesTheHolder, needs: needs},
		{name: "TwoClientsOfOneStoreDiffer", run: twoClientsOfOneStoreDiffer, needs: []Capability{Identifying}},
	}
}

// vote returns a request for tokens above one.
func (e *env) vote(name string, above uint64, tokens int) driver.Request {
	req := e.request(name, e.long)
	req.Above, req.Tokens = above, tokens
	return req
}

// voted checks the first token of a vote: it is the first that there can be. How many there are is as ever.
func (e *env) voted(b driver.Backend, req driver.Request, newest uint64) driver.Grant {
	e.Helper()
	g := e.grant(b, req)
	if first := max(req.Above, newest) + 1; g.Token != first || g.Tokens > req.Tokens {
		e.Fatalf("above %d, and %d that was given out before: %d tokens from %d, want at most %d from %d",
			req.Above, newest, g.Tokens, g.Token, req.Tokens, first)
	}
	return g
}

// last returns the last of a grant's tokens.
func last(g driver.Grant) uint64 { return g.Token + uint64(g.Tokens) - 1 }

// tokenIsNotAboveWhatWasAsked asks for tokens above one that the store has never given out, of a name that it
// knows, and of one that it does not.
func tokenIsNotAboveWhatWasAsked(e *env) {
	a, b, known := e.store(), e.store(), e.name("known")
	g := e.grant(a, e.request(known, e.long))
	e.release(a, g)
	for _, name := range []string{known, e.name("unknown")} {
		above := last(g) + 1_000_000
		for _, store := range []driver.Backend{a, b, a} {
			voted := e.grant(store, e.vote(name, above, 10))
			if voted.Token <= above {
				e.Errorf("%q: token %d, which is not above %d", name, voted.Token, above)
			}
			e.release(store, voted)
			above = last(voted) + 7
		}
		next := e.grant(b, e.request(name, e.long))
		if next.Token <= above-7 {
			e.Errorf("%q: token %d after %d", name, next.Token, above-7)
		}
		e.release(b, next)
	}
}

// tokenSkipsWithoutNeed takes turns between two clients: what one store skips, the others must skip, too.
func tokenSkipsWithoutNeed(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	g := e.grant(a, e.request(name, e.long))
	for range 3 {
		e.release(a, g)
		g = e.voted(b, e.vote(name, last(g)+1_000_000, 3), last(g)) // the store is behind
		e.release(b, g)
		g = e.voted(a, e.vote(name, 1, 5), last(g)) // it is ahead
		e.release(a, g)
		g = e.voted(a, e.vote(name, last(g), 1), last(g))
	}
	e.release(a, g)
}

// ownGrantKeepsOldTokens asks again for what was granted, because another store has given out higher tokens.
func ownGrantKeepsOldTokens(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	e.release(b, e.grant(b, e.request(name, e.long)))
	req := e.vote(name, 1, 3)
	g := e.grant(a, req)
	for _, store := range []driver.Backend{a, b} {
		req.Above = last(g) + 1000
		g = e.voted(store, req, last(g))
	}
	for _, above := range []uint64{0, 1, g.Token - 1} {
		req.Above = above
		if again := e.grant(b, req); again.Token < g.Token || last(again) > last(g) {
			e.Errorf("asked again above %d: %d tokens from %d, it had %d from %d", above, again.Tokens, again.Token,
				g.Tokens, g.Token)
		}
	}
	e.denied(b, g)
	e.release(b, g)
	next := e.grant(b, e.request(name, e.long))
	if next.Token <= last(g) {
		e.Errorf("token %d after %d", next.Token, last(g))
	}
	e.release(b, next)
}

// raisedGrantKeepsItsEnd has a grant live for another time when it is given other tokens.
func raisedGrantKeepsItsEnd(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	req := e.vote(name, 1, 1)
	g := e.grant(a, req)
	req.Above, req.TTL = last(g)+1000, 2*e.long
	g = e.grant(a, req)
	req.Above, req.TTL = last(g)+1000, e.ttl
	g = e.grant(a, req)
	next := e.startWaiting(e.contextFor(e.ttl+soon), e.newClient(b, nil).Mutex(name, nil))
	if lease := e.served(next, e.ttl+soon); lease.Token() <= last(g) {
		e.Errorf("token %d after %d", lease.Token(), last(g))
	} else {
		e.unlock(lease)
	}
}

// young checks that the store was started too late for a request, and that nothing comes of it.
func (e *env) young(b driver.Backend, req driver.Request) {
	e.Helper()
	g, err := b.Acquire(e.contextFor(soon), req)
	if !errors.Is(err, driver.ErrYoung) || !errors.Is(err, driver.ErrUnavailable) || errors.Is(err, driver.ErrRefused) {
		e.Fatalf("the store was started less than %s ago: want ErrYoung, got %v and token %d", req.Age, err, g.Token)
	}
}

// ageIsIgnored asks a store for more than it can have kept: no test began a day ago.
func ageIsIgnored(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	for _, above := range []uint64{0, 1 << 40} {
		req := e.vote(name, above, 1)
		req.Age = 24 * time.Hour
		e.young(a, req)
		e.release(b, e.grant(b, e.request(name, e.long))) // nothing is had by it
		req.Owner = newOwner()
		e.young(b, req)
	}
	e.free(e.client(nil), name)
}

// ageHidesTheHolder: a store that would not grant a lock knows who has it all the same.
func ageHidesTheHolder(e *env) {
	a, b, name := e.store(), e.store(), e.name("a")
	g := e.grant(a, e.vote(name, 1, 1))
	req := e.vote(name, last(g)+1000, 1)
	req.Age = 24 * time.Hour
	e.heldBy(b, req, g.Owner)
	req.Owner = g.Owner
	raised := e.voted(b, req, last(g))
	req.Above = 0
	if again := e.grant(b, req); again.Token != raised.Token {
		e.Errorf("token %d, it had %d", again.Token, raised.Token)
	}
	e.release(a, raised)
	req.Owner = newOwner()
	e.young(b, req)
}

// twoClientsOfOneStoreDiffer asks both who the store is.
func twoClientsOfOneStoreDiffer(e *env) {
	var known string
	for range 3 {
		id, err := e.store().Identity(e.contextFor(soon))
		switch {
		case err != nil || id == "":
			e.Fatalf("identity %q, %v", id, err)
		case known != "" && id != known:
			e.Errorf("one store is %q and %q", known, id)
		}
		known = id
	}
}
