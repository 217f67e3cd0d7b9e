package lock

import (
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// want is what somebody wants of a name. It is all that the machine knows of a Mutex, and
// it never changes: a grant is passed on to whoever wants exactly what it was had for. It
// lies in the Mutex, and everybody else points there.
type want struct {
	name    string
	ttl     time.Duration
	minHold time.Duration
	meta    string
	permits int32 // so narrow that a Mutex is no larger than it must be: users make one per Lock
	limit   int32
	maxHold uint32 // in ms, 0 for as long as it likes
	mode    driver.Mode
	fixed   bool // not renewed
	fair    bool
	role    role
}

// role is what a reader or writer is besides.
type role uint8

const (
	upgradeable role = 1 << iota // a reader that may become a writer
	humble                       // it keeps no readers off when it waits to write
)

func (r role) includes(what role) bool { return r&what != 0 }

// request returns what the backend is asked for, under that owner.
func (w *want) request(owner string) driver.Request {
	return driver.Request{
		Name: w.name, Owner: owner, Mode: w.mode, Permits: int(w.permits), Limit: int(w.limit),
		Upgradeable: w.role.includes(upgradeable), Fair: w.fair, TTL: w.ttl, Tokens: 1, Meta: w.meta,
	}
}

// check says what nobody may want. Owners are made up later, and sound.
func (w *want) check(client string) error {
	req := w.request(client)
	if err := req.Check(); err != nil {
		return err
	}
	if w.minHold != 0 && (w.minHold < leastTime || w.minHold > MaxTTL) {
		return input.Errorf("minHold", "is %s, allowed are %s to %s", w.minHold, leastTime, MaxTTL)
	}
	if w.fixed && w.minHold > w.ttl { // one of the two would be broken
		return input.Errorf("minHold", "is %s, a fixed lease allows at most its TTL, %s", w.minHold, w.ttl)
	}
	return nil
}

// isPlain reports whether a grant had for it may serve several leases: one that has a life
// of its own, or a least or a longest life, may not.
func (w *want) isPlain() bool { return !w.fixed && w.minHold == 0 && w.maxHold == 0 }

// passable reports whether a grant had for it may serve several leases, one after the other.
func (w *want) passable() bool { return w.mode != driver.Shared && !w.fair && w.isPlain() }

// mayStand reports whether the store may grant it to a request that stands in line, with a shorter life at first.
func (w *want) mayStand() bool { return w.mode == driver.Exclusive && w.isPlain() }

// joinable reports whether a grant had for it may serve several leases at once.
func (w *want) joinable() bool {
	return w.mode == driver.Shared && !w.isUpgradeable() && w.isPlain()
}

// saysThatItWaits reports whether the store is told that somebody waits for it. Who may stand in line is known by that.
func (w *want) saysThatItWaits() bool {
	switch w.mode {
	case driver.Exclusive:
		return w.fair || !w.mayStand()
	case driver.Write:
		return !w.role.includes(humble)
	default:
		return w.mode == driver.Shared
	}
}

// isUpgradeable reports whether it is to read, with one such reader at a time.
func (w *want) isUpgradeable() bool { return w.mode == driver.Shared && w.role.includes(upgradeable) }

// hasCompany reports whether there may be several grants of the name at once.
func (w *want) hasCompany() bool { return w.mode == driver.Shared || w.mode == driver.Permit }
