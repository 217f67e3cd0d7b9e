package locktest

import (
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// pleading: who has a lock is told that it is asked for.
func pleading() []behaviour {
	needs := []Capability{Pleading}
	return []behaviour{
		{name: "PleaIsUnheard", run: pleaIsUnheard, needs: needs},
		{name: "PleaTakesTheLock", run: pleaTakesTheLock, needs: needs},
	}
}

// pleaIsUnheard asks holders of every mode, with reasons of any text.
func pleaIsUnheard(e *env) {
	h, other := e.hearer(), e.store()
	h.listens(other)
	for _, req := range e.everyMode() {
		h.number++
		req.Owner, req.Meta = h.owner(), `{"host":"h"}` // as package lock has some
		g := e.grant(h, req)
		for _, p := range []driver.Plea{
			{},
			{Reason: "maintenance at noon", Within: 90 * time.Second},
			{Reason: "ü 7 \"5\" x: y", Within: driver.MaxTTL},
		} {
			told, err := other.Plead(e.contextFor(soon), req.Name, p)
			if err != nil || told != 1 {
				e.Errorf("mode %s: %d were told: %v", req.Mode, told, err)
			}
			h.wantMessage(driver.Message{Name: req.Name, Owner: g.Owner, Kind: driver.Asked, Plea: p})
		}
		e.release(h, g)
	}
}

// listens waits until the client hears: it may have to begin to listen, at each of several stores in its own time.
func (h *hearer) listens(other *bedrocktest.Backend) {
	h.e.Helper()
	g := h.grantFor(h.e.name(warmUp), 0)
	h.e.eventually("it hears that it is asked", func() bool {
		if _, err := other.Plead(h.e.contextFor(soon), g.Name, driver.Plea{}); err != nil {
			h.e.Fatal(err)
		}
		select {
		case <-h.warm:
			return true
		case <-time.After(promptly):
			return false
		}
	})
	h.e.release(h, g)
}

// pleaTakesTheLock asks for a lock whose holder does nothing, and for one that nobody has.
func pleaTakesTheLock(e *env) {
	a, b, name := e.client(nil), e.client(nil), e.name("a")
	if told, err := b.Ask(e.contextFor(soon), name, "", 0); err != nil || told != 0 {
		e.Errorf("nobody has it, and %d were told: %v", told, err)
	}
	lease := e.lockSoon(a, name, nil)
	e.eventually("the holder is told", func() bool {
		_, err := b.Ask(e.contextFor(soon), name, "now", 0)
		_, asked := lease.Plea()
		return err == nil && asked
	})
	e.refused(b, name)
	if err := lease.Err(); err != nil {
		e.Errorf("it was taken away: %v", err)
	}
	e.unlock(lease)
}
