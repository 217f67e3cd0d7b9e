package locks

import (
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// kin says what a worker is to a lock that the server passes on. A fleet has them mixed: who stands in
// line must keep out nobody who does not.
type kin string

const (
	heir    kin = ""         // as every client is today
	old     kin = "old"      // of a version that stands in no line
	ownLife kin = "own-life" // wants leases that are never passed on: fixed, or with a minimum hold
	polling kin = "polling"  // asks and goes, and is seen by nobody in between
)

// fleet is the order in which workers are of a kind. Those that stand in no line are near: among ten that are nearer
// turns leave less than the tenth of an equal share to one who is a millisecond away and stands in none, whether or not
// the server passes locks on.
func fleet() []kin { return []kin{old, ownLife, heir, polling} }

// older is a backend with what one of an older version offers.
type older struct {
	driver.Backend
	driver.Waiter
	driver.Sharder
	driver.Inspector
	driver.Forcer
	driver.Checker
}

// newer offers what is new as well, and counts how often a lock was passed on to it.
type newer struct {
	older
	driver.Resumer
	driver.Successor

	passed *atomic.Int64
}

// Inherit implements [driver.Successor].
func (b newer) Inherit(tell func(driver.Grant)) { inheritCounted(b.Successor, b.passed, tell) }

func inheritCounted(b driver.Successor, passed *atomic.Int64, tell func(driver.Grant)) {
	b.Inherit(func(g driver.Grant) {
		if g.Tokens > 0 {
			passed.Add(1)
		}
		tell(g)
	})
}

// remote is a server's locks, which are counted when they are passed on.
type remote struct {
	driver.Backend
	driver.Waiter
	driver.Inspector
	driver.Forcer
	driver.Checker
	driver.Notifier
	driver.Pleader
	driver.Downgrader
	driver.Successor

	passed *atomic.Int64
}

// Inherit implements [driver.Successor].
func (b remote) Inherit(tell func(driver.Grant)) { inheritCounted(b.Successor, b.passed, tell) }

// dress shows of a backend of Redis what a version offers, and counts what is passed on to it, as to one of a server.
func (w *worker) dress(b driver.Backend, t *target) driver.Backend {
	if t.Library == viaServer {
		return remote{
			b, b.(driver.Waiter), b.(driver.Inspector), b.(driver.Forcer), b.(driver.Checker), b.(driver.Notifier),
			b.(driver.Pleader), b.(driver.Downgrader), b.(driver.Successor), &w.passed,
		}
	}
	old := older{
		b, b.(driver.Waiter), b.(driver.Sharder), b.(driver.Inspector), b.(driver.Forcer), b.(driver.Checker),
	}
	if t.Older {
		return old
	}
	return newer{old, b.(driver.Resumer), b.(driver.Successor), &w.passed}
}

// asKin makes a wish of a worker one of its kind.
func (h *hand) asKin(w *wish) {
	r := h.random
	switch {
	case h.Kin == ownLife && h.duty == faithful:
		w.opts.Fixed, w.opts.TTL = true, h.TTL
	case h.Kin == ownLife && h.duty == roaming && r.IntN(2) == 0:
		w.style, w.opts.Fixed, w.opts.TTL = fixed, true, h.TTL
		w.hold = nemesis.Between(r, 0, shortHold)
	case h.Kin == ownLife && h.duty == roaming:
		w.style, w.opts.MinHold = minHold, nemesis.Between(r, time.Millisecond, 2*shortHold)
		w.opts.Fixed, w.hold = false, nemesis.Between(r, 0, shortHold)
	case h.Kin == polling && h.duty == roaming:
		w.style, w.wait, w.giveUp = try, time.Second, 0
		w.opts = lock.MutexOptions{TTL: w.opts.TTL}
		w.hold = min(w.hold, shortHold)
	}
}
