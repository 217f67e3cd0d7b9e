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
// what waits for it gets an early try. DESIGN.md has the whole of it.
type breaker struct {
	draw chance.Draw // of the pause between two probes

	mu     sync.Mutex
	silent int // calls in a row that found the target down
	open   bool
	opens  chan struct{} // closed when it opens; nil if nobody waits for that

	next   time.Time // when a probe may be made
	probe  pass      // the one under way; 0 is none
	until  time.Time // when that has lost its right, come what may
	passes pass
	look   time.Time     // when somebody may be looked for to make the probe
	lonely time.Duration // the pause since nobody was found; 0 if somebody was

	failures   int       // calls in a row without success
	since      time.Time // the first of them
	recoveries int
}

// pass is the leave to make a call; other than 0 for a probe.
type pass int

// verdict is what a call says about its target.
type verdict int

const (
	well    verdict = iota // it answered
	failing                // it answered that it does not know
	down                   // it did not answer
	nothing                // the call was broken off
)

// turn is how a breaker has changed.
type turn struct {
	opened, closed, recovered, forgotten bool
}

// standing is how a breaker stands for a call that is about to be made.
type standing struct {
	open, blocked bool
	recoveries    int
}

// stand looks, for a call that is about to be made.
func (b *breaker) stand(now time.Time) standing {
	b.mu.Lock()
	defer b.mu.Unlock()
	return standing{open: b.open, blocked: b.blocked(now), recoveries: b.recoveries}
}

// blocked tells whether no call may be made. A call that may not be is soon one that
// waits, so there is somebody to make the next probe.
func (b *breaker) blocked(now time.Time) bool {
	if !b.open || !b.probing(now) && !now.Before(b.next) {
		return false
	}
	if b.lonely > 0 {
		b.lonely, b.look = 0, now.Add(breakerPause)
	}
	return true
}

// probing tells whether a probe is under way. One that does not come back has the
// right for as long as its driver waits for it, and no longer; nor for longer than
// transactions are held back.
func (b *breaker) probing(now time.Time) bool { return b.probe != 0 && now.Before(b.until) }

// allow tells whether a call may be made that is given up after a time. While the
// breaker is open one call at a time may, as a probe.
func (b *breaker) allow(now time.Time, limit time.Duration) (pass, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.blocked(now):
		return 0, false
	case !b.open:
		return 0, true
	}
	b.passes++
	b.probe, b.until = b.passes, now.Add(min(limit, holdBack))
	return b.probe, true
}

// opening tells whether the breaker is open, and otherwise when it opens.
func (b *breaker) opening() (open bool, opens <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.opens == nil && !b.open {
		b.opens = make(chan struct{})
	}
	return b.open, b.opens
}

// report enters how a call went and tells what has changed.
func (b *breaker) report(p pass, v verdict, now time.Time) turn {
	b.mu.Lock()
	defer b.mu.Unlock()
	probed := p != 0 && p == b.probe
	if probed {
		b.probe = 0
	}
	switch v {
	case nothing:
		return turn{}
	case down:
		return b.missed(probed, now)
	default:
		return b.answered(v, now)
	}
}

// missed enters a call that found nobody. Calls from before it opened come back long
// after; only a probe says when to try next.
func (b *breaker) missed(probed bool, now time.Time) turn {
	b.fail(now)
	b.silent++
	t := turn{opened: !b.open && b.silent >= breakerFailures}
	if t.opened {
		b.openUp()
	}
	if t.opened || probed {
		b.next = now.Add(breakerPause*3/4 + b.draw(breakerPause/4))
	}
	return t
}

func (b *breaker) openUp() {
	b.open, b.probe, b.look, b.lonely = true, 0, time.Time{}, 0
	if b.opens != nil {
		close(b.opens)
		b.opens = nil
	}
}

// answered enters a call that found somebody.
func (b *breaker) answered(v verdict, now time.Time) turn {
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

func (b *breaker) fail(now time.Time) {
	if b.failures == 0 {
		b.since = now
	}
	b.failures++
}

// ripe tells whether it is time to look for somebody to make a probe, and since when.
func (b *breaker) ripe(now time.Time) (since time.Time, ripe bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	since = b.next
	if b.look.After(since) {
		since = b.look
	}
	return since, b.open && !b.probing(now) && !now.Before(since)
}

// looked enters whether somebody was found to make a probe. While nobody is, it is
// looked for less and less; when nobody was for longer than transactions are held
// back, nobody waits, and the breaker is done with.
func (b *breaker) looked(found bool, now time.Time) turn {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case found:
		b.look, b.lonely = now.Add(breakerPause), 0
		return turn{}
	case !b.open || b.probing(now):
		return turn{}
	}
	b.lonely = max(2*b.lonely, breakerPause)
	b.look = now.Add(b.lonely)
	if b.lonely <= holdBack {
		return turn{}
	}
	b.silent, b.failures, b.open = 0, 0, false
	b.recoveries++ // for who was about to wait
	return turn{forgotten: true}
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
