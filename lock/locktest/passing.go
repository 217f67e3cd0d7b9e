package locktest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// passing: a store that passes locks on gives them to who stands in line, in order, and to nobody else.
func passing() []behaviour {
	needs := []Capability{Passing}
	return []behaviour{
		{name: "HeirIsPassedOver", run: heirIsPassedOver, needs: needs},
		{name: "WithdrawnHeirIsGranted", run: withdrawnHeirIsGranted, needs: needs},
		{name: "UnheardGrantIsLost", run: unheardGrantIsLost, needs: needs},
		{name: "StrangerIsStarved", run: strangerIsStarved, needs: append(needs, Watching)},
	}
}

// heir is a client past the front that stands in line, and what it is told.
type heir struct {
	*bedrocktest.Backend
	e      *env
	client string
	number int
	told   chan driver.Grant
}

// heir makes a client that is ready to stand in line for a name, which is held.
func (e *env) heir(name string) *heir {
	e.Helper()
	h := &heir{Backend: e.store(), e: e, client: newClientID(), told: make(chan driver.Grant, 16)}
	h.Inherit(func(g driver.Grant) {
		select {
		case h.told <- g:
		default:
		}
	})
	if w, err := h.Watch(e.contextFor(soon), name, driver.Mutex); err == nil { // where that is what makes the name busy
		e.Cleanup(w.Close)
	}
	return h
}

// newClientID returns the first part of owners in the form that package lock gives them.
func newClientID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails: the program would have been ended
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// stand makes a new request that stands, and returns it.
func (h *heir) stand(name string) driver.Request {
	h.e.Helper()
	h.number++
	req := driver.Request{
		Name: name, Owner: fmt.Sprint(h.client, ":", h.number), TTL: h.e.long, Tokens: 4, Meta: `{"host":"h"}`,
	}
	h.e.eventually("a request stands in line", func() bool {
		_, err := h.Stand(h.e.contextFor(soon), req)
		held, refused := errors.AsType[*driver.HeldError](err)
		return refused && held.Claim > 0
	})
	return req
}

// grantOf returns what was granted to a request.
func (h *heir) grantOf(req driver.Request) driver.Grant {
	h.e.Helper()
	select {
	case g := <-h.told:
		if g.Owner != req.Owner || g.Name != req.Name || g.Tokens < 1 {
			h.e.Fatalf("told of %+v, want the grant of %s", g, req.Owner)
		}
		return g
	case <-time.After(soon):
		h.e.Fatalf("nothing was granted to %s", req.Owner)
		return driver.Grant{}
	}
}

// grantAsFront takes a lock as package lock does, with something stored beside it.
func (e *env) grantAsFront(b driver.Backend, name string) driver.Grant {
	e.Helper()
	req := e.request(name, e.long)
	req.Meta, req.Tokens = `{"host":"h"}`, 4
	return e.grant(b, req)
}

// surelyPassed is for how long a lock is passed on at least, before those have a turn who stand in no line.
const surelyPassed = 80 * time.Millisecond

// heirIsPassedOver has two stand: the lock goes to one after the other, and to nobody between them, with tokens that
// rise.
func heirIsPassedOver(e *env) {
	a, name := e.store(), e.name("a")
	g := e.grantAsFront(a, name)
	first, second := e.heir(name), e.heir(name)
	toFirst := first.stand(name)
	toSecond := second.stand(name)
	passed := time.Now()
	e.release(a, g)
	e.denied(a, driver.Grant{Name: name, Owner: toFirst.Owner})
	one := first.grantOf(toFirst)
	e.release(a, g) // repeated, it is a success
	if errs := first.Renew(e.contextFor(soon), []driver.Grant{one}); errs[0] != nil {
		e.Errorf("renew: %v", errs[0])
	}
	e.release(first, one)
	var two driver.Grant
	if time.Since(passed) < surelyPassed {
		e.denied(a, driver.Grant{Name: name, Owner: toSecond.Owner})
		two = second.grantOf(toSecond)
	} else { // on a slow machine: it may be free for everybody by then
		two = e.grant(second, toSecond)
	}
	if one.Token < g.Token+uint64(g.Tokens) || two.Token < one.Token+uint64(one.Tokens) {
		e.Errorf("tokens %d+%d, %d+%d, %d", g.Token, g.Tokens, one.Token, one.Tokens, two.Token)
	}
	e.release(second, two)
}

// withdrawnHeirIsGranted has somebody leave the line by a release, which finds no grant.
func withdrawnHeirIsGranted(e *env) {
	a, name := e.store(), e.name("a")
	g := e.grantAsFront(a, name)
	h := e.heir(name)
	req := h.stand(name)
	_, err := h.Release(e.contextFor(soon), driver.Grant{Name: name, Owner: req.Owner})
	if !errors.Is(err, driver.ErrLost) {
		e.Errorf("release of who stands: want ErrLost, got %v", err)
	}
	e.release(a, g)
	e.release(a, e.grantAsFront(a, name))
}

// unheardGrantIsLost has somebody ask again who was granted the lock and has not heard of it.
func unheardGrantIsLost(e *env) {
	a, name := e.store(), e.name("a")
	g := e.grantAsFront(a, name)
	h := e.heir(name)
	req := h.stand(name)
	e.release(a, g)
	again, err := h.Stand(e.contextFor(soon), req)
	if err != nil || again.Owner != req.Owner || again.Token < g.Token+uint64(g.Tokens) {
		e.Fatalf("asked again: %+v, %v", again, err)
	}
	e.release(h, again)
}

// strangerIsStarved has two pass a lock to and fro while somebody listens who stands in no line.
func strangerIsStarved(e *env) {
	a, stranger, name := e.store(), e.store(), e.name("a")
	g := e.grantAsFront(a, name)
	watch, err := stranger.Watch(e.contextFor(soon), name, driver.Mutex)
	if err != nil {
		e.Fatal(err)
	}
	defer watch.Close()
	both := [...]*heir{e.heir(name), e.heir(name)}
	next := both[0].stand(name)
	e.release(a, g)
	for turns := range 200 {
		here, there := both[turns%2], both[(turns+1)%2]
		g, after := here.grantOf(next), there.stand(name)
		e.release(here, g)
		if g, free := e.freeFor(stranger, there, watch, name); free {
			e.release(stranger, g)
			_, _ = there.Release(e.contextFor(soon), driver.Grant{Name: name, Owner: after.Owner}) // it stood
			return
		}
		next = after
	}
	e.Fatal("the lock was never free for who waits")
}

// freeFor waits until a lock is passed on to an heir, or is free for a stranger who listens. That one may hear of a
// life that was cut short, too.
func (e *env) freeFor(stranger driver.Backend, h *heir, watch driver.Watch, name string) (driver.Grant, bool) {
	for {
		select {
		case told := <-h.told:
			h.told <- told
			return driver.Grant{}, false
		case <-watch.C():
			if g, err := stranger.Acquire(e.contextFor(soon), e.request(name, e.long)); err == nil {
				return g, true
			}
		case <-time.After(soon):
			e.Fatal("neither passed on nor released")
		}
	}
}
