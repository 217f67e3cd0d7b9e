package locktest

import (
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/lock"
)

// A lease lives on if the machine lets its holder renew it. One that is lost proves
// something only if the machine has kept pace: if it has not, the trial is repeated with
// a lease twice as long.
const (
	// keptPace is the part of a lease by which a call to the store may be late.
	keptPace = 16
	// longestTrial is how many times longer than usual a lease gets at most: one that is
	// lost then is lost for another reason.
	longestTrial = 16
)

// holder has a lock that must stay its own, whatever happens meanwhile.
type holder struct {
	*env
	ttl   time.Duration
	lease *lock.Lease
	rival *lock.Client
	late  time.Duration // the most by which the test's own calls and pauses were late
	lost  bool
}

// keeps checks that a lease survives what happens meanwhile. The first renewals fare as
// faults say.
func (e *env) keeps(meanwhile func(h *holder), faults ...Fault) {
	e.Helper()
	for ttl := e.ttl; ; ttl *= 2 {
		h := e.newHolder(ttl, faults)
		meanwhile(h)
		if !h.lost && h.lease.State() != lock.Lost {
			e.unlock(h.lease)
			e.free(h.rival, h.lease.Name())
			return
		}
		if h.late <= ttl/keptPace || ttl >= longestTrial*e.ttl {
			e.Fatalf("a lease of %s is lost, on a machine that was late by %s at most: %v", ttl, h.late, h.lease.Err())
		}
		e.Logf("a lease of %s is lost, but the machine was late by %s: once more with a longer one", ttl, h.late)
	}
}

func (e *env) newHolder(ttl time.Duration, faults []Fault) *holder {
	e.Helper()
	h := &holder{env: e, ttl: ttl, rival: e.client(nil)}
	a, link := e.faultyClient(&lock.Options{TTL: ttl})
	link.Fail(Renew, faults...)
	h.lease = e.lock(a, e.name("held for "+ttl.String()), nil)
	return h
}

// stays has the rival ask for the lock, again and again for as long as d or until it is
// lost. It must not be had before its holder knows.
func (h *holder) stays(d time.Duration) {
	h.Helper()
	for end := time.Now().Add(d); !h.lost && time.Now().Before(end); {
		start := time.Now()
		h.ask()
		time.Sleep(d / 20)
		h.took(start, d/20)
	}
}

// ask finds out whether the lock is lost.
func (h *holder) ask() {
	h.Helper()
	lease, err := h.rival.Mutex(h.lease.Name(), nil).TryLock(h.within(cleanUp))
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

// took enters how late the machine was with what should have taken d.
func (h *holder) took(start time.Time, d time.Duration) {
	h.late = max(h.late, time.Since(start)-d)
}
