package lanes

import (
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/chance"
)

const (
	// breakerFailures is after how many failures in a row a target counts as down, if
	// nobody was found, or as in trouble.
	breakerFailures = 5
	// breakerPause is the time between two probes of a target that is down: long
	// enough to be no burden, short enough to notice soon that it is back.
	breakerPause = time.Second
	// HoldBack is after what time transactions that a breaker holds back are due by
	// themselves. They are fetched earlier when the breaker closes; this covers for a
	// coordinator that died meanwhile.
	HoldBack = 30 * time.Second
)

// breaker keeps calls from a target that does not answer, and notices when a target has
// recovered. A target that answers with errors is still called, because they may be about
// single transactions; but when it succeeds after a while without success, what waits for
// it gets an early try. DESIGN.md says why it is so.
type breaker struct {
	draw chance.Draw // of the pause between two probes

	mu     sync.Mutex
	silent int // calls in a row that found the target down
	open   bool
	opens  chan struct{} // closed when it opens; nil if nobody waits for that

	probeAt     time.Time // when a probe may be made
	probe       Pass      // the one under way; 0 is none
	probeUntil  time.Time // when that has lost its right, come what may
	passes      Pass
	searchAt    time.Time     // when to look for a transaction that makes the probe
	searchPause time.Duration // the pause until then, because none was found; 0 if one was

	failures   int       // calls in a row without success
	since      time.Time // the first of them
	recoveries int
}

// Pass is the breaker's leave to make a call. That of a probe is not 0.
type Pass int

// Finding is what a call says about its target as a whole.
type Finding int

// What a call may say.
const (
	Well    Finding = iota // it answered
	Failing                // it answered that it does not know
	Down                   // it did not answer
	Nothing                // the call was broken off
)

// Change is how a breaker has changed.
type Change struct {
	Opened, Closed, Recovered, Forgotten, Ended bool
}

// Standing is how a breaker stands for a call that is about to be made.
type Standing struct {
	Open, Blocked bool
	Recoveries    int
}

// standing is how it stands for a call that is about to be made.
func (b *breaker) standing(now time.Time) Standing {
	b.mu.Lock()
	defer b.mu.Unlock()
	return Standing{Open: b.open, Blocked: b.isBlocked(now), Recoveries: b.recoveries}
}

// isBlocked reports whether a call must not be made now. Its transaction soon waits in the
// store, so there is one again to make the next probe.
func (b *breaker) isBlocked(now time.Time) bool {
	if !b.open || !b.isProbing(now) && !now.Before(b.probeAt) {
		return false
	}
	if b.searchPause > 0 {
		b.searchPause, b.searchAt = 0, now.Add(breakerPause)
	}
	return true
}

// isProbing reports whether a probe is under way. One that does not come back keeps its
// right as long as its run waits for it, but no longer than transactions are held back.
func (b *breaker) isProbing(now time.Time) bool { return b.probe != 0 && now.Before(b.probeUntil) }

// admit reports whether a call may be made, which is given up after the limit. While the
// breaker is open one call at a time may be made, as a probe.
func (b *breaker) admit(now time.Time, limit time.Duration) (Pass, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.isBlocked(now):
		return 0, false
	case !b.open:
		return 0, true
	}
	b.passes++
	b.probe, b.probeUntil = b.passes, now.Add(min(limit, HoldBack))
	return b.probe, true
}

// whenOpen reports whether the breaker is open. If not, the channel is closed when it
// opens.
func (b *breaker) whenOpen() (open bool, opens <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.opens == nil && !b.open {
		b.opens = make(chan struct{})
	}
	return b.open, b.opens
}

// addCall enters how a call went and tells what has changed.
func (b *breaker) addCall(p Pass, found Finding, now time.Time) Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	probed := p != 0 && p == b.probe
	if probed {
		b.probe = 0
	}
	switch found {
	case Nothing:
		return Change{}
	case Down:
		return b.addMissed(probed, now)
	default:
		return b.addAnswered(found, now)
	}
}

// addMissed enters a call that found nobody. Calls from before the breaker opened come back
// long after, so only a probe moves the time of the next one.
func (b *breaker) addMissed(probed bool, now time.Time) Change {
	b.countFailure(now)
	b.silent++
	c := Change{Opened: !b.open && b.silent >= breakerFailures}
	if c.Opened {
		b.openUp()
	}
	if c.Opened || probed {
		b.probeAt = now.Add(breakerPause*3/4 + b.draw(breakerPause/4))
	}
	return c
}

func (b *breaker) openUp() {
	b.open, b.probe, b.searchAt, b.searchPause = true, 0, time.Time{}, 0
	if b.opens != nil {
		close(b.opens)
		b.opens = nil
	}
}

// addAnswered enters a call that found somebody.
func (b *breaker) addAnswered(found Finding, now time.Time) Change {
	c := Change{Closed: b.open}
	b.silent, b.open = 0, false
	if found == Failing {
		b.countFailure(now)
		c.Recovered = c.Closed
	} else {
		c.Recovered = c.Closed || b.failures >= breakerFailures && now.Sub(b.since) >= breakerPause
		b.failures = 0
	}
	if c.Recovered {
		b.recoveries++
	}
	return c
}

func (b *breaker) countFailure(now time.Time) {
	if b.failures == 0 {
		b.since = now
	}
	b.failures++
}

// dueForProbe reports whether it is time to look for somebody to make a probe, and since when.
func (b *breaker) dueForProbe(now time.Time) (since time.Time, due bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	since = b.probeAt
	if b.searchAt.After(since) {
		since = b.searchAt
	}
	return since, b.open && !b.isProbing(now) && !now.Before(since)
}

// addSearch enters whether a transaction was found to make a probe. While none is, the
// searches are ever further apart; once that is longer than transactions are held back,
// none waits, and the breaker is forgotten.
func (b *breaker) addSearch(found bool, now time.Time) Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case found:
		b.searchAt, b.searchPause = now.Add(breakerPause), 0
		return Change{}
	case !b.open || b.isProbing(now):
		return Change{}
	}
	b.searchPause = max(2*b.searchPause, breakerPause)
	b.searchAt = now.Add(b.searchPause)
	if b.searchPause <= HoldBack {
		return Change{}
	}
	b.silent, b.failures, b.open = 0, 0, false
	b.recoveries++ // a transaction that was about to wait sees that it need not
	return Change{Forgotten: true}
}

// countRecoveries is how often the target has recovered.
func (b *breaker) countRecoveries() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.recoveries
}

func (b *breaker) isOpen() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open
}
