package lock

import (
	"slices"
	"strings"
	"time"
)

// strangeGrants is how many own grants may go by until everybody else was seen.
const strangeGrants = 8

// company is what refusals tell of all who want the lock. In every round each of them
// has to be seen in it. Who has it several times in a round while others wait whom it
// does not see knows that there are strangers: it hears goes, but they are those of
// others who are near, over before anybody is refused.
//
// Strangers are given time to come, however many goes are heard meanwhile, and twice as
// much the next time if they did not.
type company struct {
	known  []acquaintance
	grants int           // how many this process has had since the round began or it waited for strangers
	goes   int           // how many others were heard to have had meanwhile
	reach  time.Duration // how long strangers are given to come
	vain   int           // how often that much was not enough

	process, owner string // who had the lock when that was seen last
}

// acquaintance is a process that was seen in the lock.
type acquaintance struct {
	process string
	last    time.Duration // when it was seen last
	met     bool          // in this round
}

// process returns whose this owner is. One that does not tell, as that of a backend that
// tells hashes, is nobody's.
func process(owner string) (name string, told bool) {
	colon := strings.LastIndexByte(owner, ':')
	if colon < 0 {
		return "", false
	}
	return owner[:colon], true
}

// saw enters that this owner had the lock. It reports whether that is a stranger.
func (c *company) saw(owner string, now time.Duration) bool {
	name, told := process(owner)
	if !told {
		return false
	}
	c.countOnce(name, owner)
	i := slices.IndexFunc(c.known, func(a acquaintance) bool { return a.process == name })
	if i < 0 {
		c.forgetGone(now)
		c.known = append(c.known, acquaintance{process: name, last: now, met: true})
		return true
	}
	a := &c.known[i]
	stranger := !a.met
	a.last, a.met = now, true
	return stranger
}

// countOnce takes a go off that was a second one of the same process: an upgrade is two.
func (c *company) countOnce(process, owner string) {
	if process == c.process && owner != c.owner && c.goes > 0 {
		c.goes--
	}
	c.process, c.owner = process, owner
}

// forgetGone drops those who seem to have gone.
func (c *company) forgetGone(now time.Duration) {
	c.known = slices.DeleteFunc(c.known, func(a acquaintance) bool { return !a.met && !a.lately(now) })
}

func (a acquaintance) lately(now time.Duration) bool { return now-a.last < absence }

// met returns how many were seen in this round.
func (c *company) met() (n int) {
	for _, a := range c.known {
		if a.met {
			n++
		}
	}
	return n
}

// lately returns how many are known not to be mere listeners.
func (c *company) lately(now time.Duration) (n int) {
	for _, a := range c.known {
		if a.lately(now) {
			n++
		}
	}
	return n
}

// account enters an own grant. It returns how many strangers are to be waited for now,
// of so many others.
func (c *company) account(others int) int {
	c.grants++
	strangers := others - c.met()
	if strangers <= 0 {
		c.nextRound()
		return 0
	}
	if others == 1 || len(c.known) == 0 || c.grants <= strangeGrants || c.poor(others) {
		return 0
	}
	c.grants, c.goes = 0, 0
	return strangers
}

// poor reports whether this process has had less than its share itself: who is far away
// sees little of those who are near.
func (c *company) poor(others int) bool { return c.goes > c.grants*others }

// nextRound begins when everybody was seen, and gives strangers a little less time.
func (c *company) nextRound() {
	for i := range c.known {
		c.known[i].met = false
	}
	c.grants, c.goes, c.vain = 0, 0, 0
	c.reach = max(c.reach*7/8, shortestYield)
}

// missed gives strangers who did not come more time. There is a second try while they
// may be near, and with the longest time. It reports whether that was in vain, too.
func (c *company) missed() bool {
	c.vain++
	longest := c.reach == longestYield
	if c.vain == 1 && (longest || c.reach <= nearYield) {
		return false
	}
	c.reach, c.vain = min(2*c.reach, longestYield), 0
	return longest
}
