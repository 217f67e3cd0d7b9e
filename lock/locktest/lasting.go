package locktest

import (
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/lock"
)

// holder has a lock that must stay its own, whatever happens meanwhile.
type holder struct {
	*env
	*proof

	ttl    time.Duration // of the lease
	lease  *lock.Lease
	client *lock.Client         // its own
	link   *bedrocktest.Backend // of that
	rival  *lock.Client
	lost   bool
}

// keeps checks that a lease survives what happens meanwhile. The first renewals fare as
// faults say.
func (e *env) keeps(meanwhile func(h *holder), faults ...bedrocktest.Fault) {
	e.Helper()
	e.prove(func(p *proof) error {
		h := e.newHolder(p)
		h.link.Fail(bedrocktest.Renew, faults...)
		meanwhile(h)
		if h.lost || h.lease.State() == lock.Lost {
			return h.lease.Err()
		}
		e.unlock(h.lease)
		e.free(h.rival, h.lease.Name())
		return nil
	})
}

func (e *env) newHolder(p *proof) *holder {
	e.Helper()
	h := &holder{env: e, proof: p, ttl: p.ttl, rival: e.client(nil)}
	h.client, h.link = e.faultyClient(&lock.Options{TTL: p.ttl})
	h.lease = e.lockSoon(h.client, e.name("held for "+p.ttl.String()), nil)
	return h
}

// waitForRenewal waits until the lease has been renewed, or is lost.
func (h *holder) waitForRenewal() error {
	h.Helper()
	h.eventually("a renewal or a loss", func() bool {
		return h.link.Returned(bedrocktest.Renew) > 0 || h.lease.Err() != nil
	})
	return h.lease.Err()
}

// stays has the rival ask for the lock, again and again for as long as d or until it is
// lost. It must not be had before its holder knows.
func (h *holder) stays(d time.Duration) {
	h.Helper()
	for end := time.Now().Add(d); !h.lost && time.Now().Before(end); {
		start := time.Now()
		h.askWhetherLost()
		time.Sleep(d / 20)
		h.took(start, d/20)
	}
}

// askWhetherLost finds out whether the lock is lost.
func (h *holder) askWhetherLost() {
	h.Helper()
	lease, err := h.rival.Mutex(h.lease.Name(), nil).TryLock(h.contextFor(cleanUp))
	switch {
	case err == nil && h.lease.Err() == nil:
		h.Fatalf("%q was granted with token %d while its holder had it by the clock", lease.Name(), lease.Token())
	case err == nil:
		h.unlock(lease)
	case !errors.Is(err, lock.ErrHeld):
		h.Fatalf("want ErrHeld, got %v", err)
	}
	h.lost = h.lease.Err() != nil
}
