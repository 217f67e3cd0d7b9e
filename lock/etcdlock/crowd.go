package etcdlock

import (
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// crowd is what is in the folder of a lock but for mutexes: who has the lock, of several, who waits to read or to
// write, and a latch. It is in order of coming.
type crowd []contender

// places are kept for so long without asking again.
const longestPlace = 5 * time.Second

// hasLock reports whether somebody has the lock by the key, or it is that of a latch.
func (c *contender) hasLock() bool { return c.state == held }

// holderOf returns what an owner has, nil if it has nothing.
func (all crowd) holderOf(owner string) *contender {
	for i := range all {
		if c := &all[i]; c.hasLock() && c.owner == owner {
			return c
		}
	}
	return nil
}

// placeOf returns where an owner waits, nil if it does not.
func (all crowd) placeOf(owner string) *contender {
	for i := range all {
		if c := &all[i]; !c.hasLock() && c.owner == owner {
			return c
		}
	}
	return nil
}

// admitted returns who has the lock.
func (all crowd) admitted() (have []*contender) {
	for i := range all {
		if all[i].hasLock() {
			have = append(have, &all[i])
		}
	}
	return have
}

// checkKind refuses a name that somebody has as a lock of another kind.
func (all crowd) checkKind(wanted driver.Kind) error {
	for _, c := range all.admitted() {
		if found := c.word.lockKind(); found != wanted {
			return &driver.KindError{Found: found, Wanted: wanted}
		}
	}
	return nil
}

// checkOver refuses a request over a grant that is not there.
func (all crowd) checkOver(req *driver.Request) error {
	if req.Over == "" {
		return nil
	}
	over := all.holderOf(req.Over)
	if over != nil && (req.Mode == driver.Write && over.word == upgradeable ||
		req.Mode == driver.Shared && over.word == writes) {
		return nil
	}
	return driver.ErrBelow
}

// refusalOf says who is in the way of a request; nil if nobody is.
func (all crowd) refusalOf(req *driver.Request) *driver.HeldError {
	var refusal *driver.HeldError
	taken := 0
	for _, c := range all.admitted() {
		taken += c.count
		if !c.isInTheWayOf(req) {
			continue
		}
		left := c.life()
		if refusal == nil || (left < refusal.TTL) == (req.Mode == driver.Permit) {
			refusal = &driver.HeldError{Owner: c.owner, TTL: left}
		}
	}
	if req.Mode == driver.Permit && taken+req.Permits <= req.Limit {
		return nil
	}
	if refusal == nil && req.Over == "" {
		refusal = all.whoGoesFirst(req)
	}
	return refusal
}

// isInTheWayOf reports whether the request has to wait for the holder, or may have to.
func (c *contender) isInTheWayOf(req *driver.Request) bool {
	switch {
	case c.owner == req.Over:
		return false
	case req.Mode == driver.Shared:
		return c.word == writes || req.Upgradeable && c.word == upgradeable
	default:
		return true
	}
}

// whoGoesFirst refuses who comes before somebody that only waits: a writer before the readers whose turn it is, and
// anybody but those before who has come earlier, unless both read.
func (all crowd) whoGoesFirst(req *driver.Request) *driver.HeldError {
	own := all.placeOf(req.Owner)
	if own != nil && own.state == next {
		return nil
	}
	for i := range all {
		c := &all[i]
		earlier := own == nil || c.created < own.created
		switch {
		case c.hasLock() || c.owner == req.Owner || req.Mode == driver.Shared && c.word != writes:
		case earlier || c.state == next:
			return &driver.HeldError{Owner: c.owner, TTL: longestPlace, Waits: true}
		}
	}
	return nil
}

// turnOf returns with what state somebody waits who is refused. A reader who waits for a writer goes before the next
// one; not if that one reads on, for then those who upgrade in turn would let each other in as readers who wait.
func (all crowd) turnOf(req *driver.Request) state {
	if req.Mode != driver.Shared {
		return waits
	}
	turn := waits
	for _, c := range all.admitted() {
		if c.word == upgradeable {
			return waits
		}
		if c.word == writes {
			turn = next
		}
	}
	return turn
}

// letsIn reports whether somebody may come in since a key has gone. Who waited and has the lock now lets nobody in.
func (all crowd) letsIn(gone *contender) bool {
	if !gone.hasLock() {
		return all.holderOf(gone.owner) == nil
	}
	rest := all.admitted()
	return gone.word != reads || len(rest) == 0 || len(rest) == 1 && rest[0].word == upgradeable
}
