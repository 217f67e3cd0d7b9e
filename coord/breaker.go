package coord

import (
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// breakerFailures in a row take a target for down.
	breakerFailures = 5
	// breakerPause is the time between two probes of a target that is down: long
	// enough to be no burden, short enough to notice soon that it is back.
	breakerPause = time.Second
	// holdBack is when transactions held back by a breaker come up by themselves. They
	// are fetched earlier when the breaker closes; this covers for a coordinator that
	// died meanwhile.
	holdBack = 30 * time.Second
)

// breaker keeps calls from a target that does not answer.
type breaker struct {
	mu       sync.Mutex
	failures int
	open     bool
	probing  bool
	next     time.Time
}

// allow tells whether a call may be made. While the breaker is open one call at a
// time may, as a probe.
func (b *breaker) allow(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return true
	}
	if b.probing || now.Before(b.next) {
		return false
	}
	b.probing = true
	return true
}

// blocked tells whether there is no point in waiting for a slot.
func (b *breaker) blocked(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open && (b.probing || now.Before(b.next))
}

// abandon takes back a probe that came to no end.
func (b *breaker) abandon() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}

// report enters how a call went and tells whether the breaker has changed.
func (b *breaker) report(down bool, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !down {
		changed := b.open
		b.failures, b.open, b.probing = 0, false, false
		return changed
	}
	b.failures++
	b.probing = false
	b.next = now.Add(breakerPause*3/4 + rand.N(breakerPause/4))
	changed := !b.open && b.failures >= breakerFailures
	b.open = b.open || changed
	return changed
}

func (b *breaker) isOpen() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open
}

// ripe tells whether a probe may be made.
func (b *breaker) ripe(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open && !b.probing && !now.Before(b.next)
}
