package coord

import (
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/chance"
)

const (
	// breakerFailures in a row take a target for down, or for one in trouble.
	breakerFailures = 5
	// breakerPause is the time between two probes of a target that is down: long
	// enough to be no burden, short enough to notice soon that it is back.
	breakerPause = time.Second
	// holdBack is when transactions held back by a breaker come up by themselves. They
	// are fetched earlier when the breaker closes; this covers for a coordinator that
	// died meanwhile.
	holdBack = 30 * time.Second
)

// breaker keeps calls from a target that does not answer, and notices when a target
// has recovered. One that answers with errors is called on, because they may be
// about single transactions; but when it succeeds after a while without success,
// what waits for it should not sit out its pauses either.
type breaker struct {
	draw chance.Draw // of the pause between two probes

	mu      sync.Mutex
	silent  int // calls in a row that found the target down
	open    bool
	probing bool
	next    time.Time

	failures   int       // calls in a row without success
	since      time.Time // the first of them
	recoveries int
}

// verdict is what a call says about its target.
type verdict int

const (
	well    verdict = iota // it answered
	failing                // it answered that it does not know
	down                   // it did not answer
)

// turn is how a breaker has changed.
type turn struct {
	opened, closed, recovered bool
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

// report enters how a call went and tells what has changed.
func (b *breaker) report(v verdict, now time.Time) turn {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
	if v == down {
		return b.missed(now)
	}
	t := turn{closed: b.open}
	b.silent, b.open = 0, false
	if v == failing {
		b.fail(now)
		t.recovered = t.closed
	} else {
		t.recovered = t.closed || b.failures >= breakerFailures && now.Sub(b.since) >= breakerPause
		b.failures = 0
	}
	if t.recovered {
		b.recoveries++
	}
	return t
}

// missed enters a call that found nobody.
func (b *breaker) missed(now time.Time) turn {
	b.fail(now)
	b.silent++
	b.next = now.Add(breakerPause*3/4 + b.draw(breakerPause/4))
	t := turn{opened: !b.open && b.silent >= breakerFailures}
	b.open = b.open || t.opened
	return t
}

func (b *breaker) fail(now time.Time) {
	if b.failures == 0 {
		b.since = now
	}
	b.failures++
}

// recovered counts the recoveries.
func (b *breaker) recovered() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.recoveries
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
