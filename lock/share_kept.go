package lock

import (
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// shares are those of the names of a part.
type shares struct {
	byName map[string]*share
	limit  int // when to look for those that are too old
}

// shareOf returns the share of a name; nil if there is none. part.mu is held.
func (p *part) shareOf(name string) *share { return p.shares.byName[name] }

// newShareOf returns the share of a name, which there is from now on. part.mu is held.
func (p *part) newShareOf(name string, now time.Duration) *share {
	if s := p.shareOf(name); s != nil {
		return s
	}
	if len(p.shares.byName) >= p.shares.limit {
		p.tidyShares(now)
	}
	s := &share{pause: shortestYield, company: company{reach: shortestYield}, freed: now}
	p.shares.byName[name] = s
	return s
}

// forgetOldShare forgets the share of a name that is used again, if it is too old. part.mu is held.
func (p *part) forgetOldShare(name string, c *Client) {
	if s := p.shareOf(name); s != nil && !p.isUsed(name) && s.tooOld(c.now()) {
		delete(p.shares.byName, name)
	}
}

// tidyShares forgets those that are too old. It looks again when there are twice as many. part.mu is held.
func (p *part) tidyShares(now time.Duration) {
	if p.shares.byName == nil {
		p.shares.byName = make(map[string]*share)
	}
	for name, s := range p.shares.byName {
		if s.tooOld(now) && !p.isUsed(name) {
			delete(p.shares.byName, name)
		}
	}
	p.shares.limit = 2*len(p.shares.byName) + 16
}

// isUsed reports whether the name has a queue. part.mu is held.
func (p *part) isUsed(name string) bool { return p.byName[name] != nil || len(p.besides[name]) > 0 }

func (s *share) tooOld(now time.Duration) bool { return now-s.freed >= shareLife }

// hasTurns reports whether this process has its share of the name in turns: else it is the store that says who is
// next, or nobody need wait.
func (h *hold) hasTurns() bool { return !h.q.fair && h.want.mode != driver.Permit }

// hasTurns reports whether who waits here goes by the share: it does not where what is wanted is had over something
// that is had already, or only tried for.
func (q *queue) hasTurns() bool {
	return !q.fair && q.kind != driver.Semaphore && (q.side == "" || q.side == upgradeableSide || q.side == humbleSide)
}
