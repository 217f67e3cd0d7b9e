package locktest

import (
	"fmt"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// telling: a store that tells clients of their grants tells who has them what others do.
func telling() []behaviour {
	needs := []Capability{Telling}
	return []behaviour{
		{name: "ForceIsHeardOfLate", run: forceIsHeardOfLate, needs: append(needs, Forcing)},
		{name: "RecallIsUnheard", run: recallIsUnheard, needs: needs},
		{name: "WhatMayNotLingerIsRecalled", run: whatMayNotLingerIsRecalled, needs: needs},
	}
}

// warmUp is the lock by which is found out that somebody listens.
const warmUp = "listens"

// hearer is a client that hears what others do to its grants.
type hearer struct {
	*bedrocktest.Backend
	e      *env
	client string
	number int
	told   chan driver.Message
	known  []driver.Message    // what was told before, which may be told again
	warm   chan driver.Message // of the lock called warmUp, of which as much as there is may be told
}

func (e *env) hearer() *hearer {
	e.Helper()
	h := &hearer{Backend: e.store(), e: e, client: newClientID(), told: make(chan driver.Message, 16)}
	h.warm = make(chan driver.Message, 1)
	warming := e.name(warmUp)
	h.Notify(func(m driver.Message) {
		if m.Kind == driver.Missed {
			return
		}
		heard := h.told
		if m.Name == warming {
			heard = h.warm
		}
		select {
		case heard <- m:
		default:
		}
	})
	return h
}

// owner returns an owner of this client.
func (h *hearer) owner() string { return fmt.Sprint(h.client, ":", h.number) }

// grantFor takes a lock that may linger for so long.
func (h *hearer) grantFor(name string, linger time.Duration) driver.Grant {
	h.e.Helper()
	h.number++
	return h.e.grant(h, driver.Request{
		Name: name, Owner: h.owner(), TTL: h.e.long, Tokens: 4, Meta: `{"host":"h"}`,
		Linger: linger,
	})
}

// lockRecalled takes a lock of which the client is told when somebody wants it: it may have to begin to listen.
func (h *hearer) lockRecalled(name string) (g driver.Grant) {
	h.e.Helper()
	h.e.eventually("a grant can be recalled", func() bool {
		if g = h.grantFor(name, time.Millisecond); !g.Recalled {
			h.e.release(h, g)
		}
		return g.Recalled
	})
	return g
}

// wantTold waits for a message of a grant.
func (h *hearer) wantTold(kind driver.MessageKind, g driver.Grant) {
	h.e.Helper()
	h.wantMessage(driver.Message{Name: g.Name, Owner: g.Owner, Kind: kind})
}

func (h *hearer) wantMessage(want driver.Message) {
	h.e.Helper()
	for late := time.After(soon); ; {
		select {
		case m := <-h.told:
			if m == want {
				h.known = append(h.known, m)
				return
			}
			if !slices.Contains(h.known, m) {
				h.e.Fatalf("told of %+v, want %+v", m, want)
			}
		case <-late:
			h.e.Fatalf("nothing was told of %s", want.Owner)
		}
	}
}

// forceIsHeardOfLate takes a lock away from who has it.
func forceIsHeardOfLate(e *env) {
	h, name := e.hearer(), e.name("a")
	e.release(h, h.lockRecalled(name)) // it listens by now
	g := h.grantFor(name, 0)
	held, err := e.store().ForceRelease(e.contextFor(soon), name)
	if !held || err != nil {
		e.Fatal(held, err)
	}
	h.wantTold(driver.Taken, g)
}

// recallIsUnheard has somebody refused who wants a lock that may linger.
func recallIsUnheard(e *env) {
	h, other, name := e.hearer(), e.store(), e.name("a")
	g := h.lockRecalled(name)
	if _, err := other.Acquire(e.contextFor(soon), e.request(name, e.long)); err == nil {
		e.Fatal("two have the lock")
	}
	h.wantTold(driver.Wanted, g)
	e.release(h, g)
	e.release(other, e.grantAsFront(other, name))
}

// whatMayNotLingerIsRecalled has somebody refused who wants another lock.
func whatMayNotLingerIsRecalled(e *env) {
	h, other, name := e.hearer(), e.store(), e.name("a")
	lingering := h.lockRecalled(e.name("b"))
	g := h.grantFor(name, 0)
	if g.Recalled {
		e.Error("it can be recalled")
	}
	for _, n := range []string{name, lingering.Name} {
		if _, err := other.Acquire(e.contextFor(soon), e.request(n, e.long)); err == nil {
			e.Fatal("two have the lock")
		}
	}
	h.wantTold(driver.Wanted, lingering) // and of nothing before
	e.release(h, lingering)
	e.release(h, g)
}
