package several

import (
	"slices"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// skew is how far apart the nodes' clocks may be so that a grant has all the tokens it asks for: none of them gives out
// more than its clock has passed.
const skew = 10 * time.Millisecond

// tokenClock guesses the tokens that the nodes give out: they go by their clocks, in microseconds. It asks no clock of
// this machine what time it is. A guess that is wrong costs one more round of requests, and nothing else.
type tokenClock struct {
	mu   sync.Mutex
	last uint64
	at   time.Time
}

// now is what the fastest of the nodes' clocks shows, 0 as long as none is known.
func (c *tokenClock) now() uint64 {
	if c.last == 0 {
		return 0
	}
	return c.last + uint64(time.Since(c.at).Microseconds())
}

// Propose returns above which token to ask for so many, so that the nodes are likely to give out the same; 0 to
// leave it to them.
func (s *Stores) Propose(tokens int) uint64 {
	c := &s.tokens
	c.mu.Lock()
	defer c.mu.Unlock()
	back := uint64(tokens) + uint64(skew.Microseconds())
	if now := c.now(); now > back {
		return now - back
	}
	return 0
}

// saw takes note of a token that was given out.
func (c *tokenClock) saw(token uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if token > c.now() {
		c.last, c.at = token, time.Now()
	}
}

// Agree returns the tokens that so many of the grants have in common, at the upper end: the first is no lower than
// any grant's first, so it is higher than whatever was agreed on at a set of nodes that has one of these. If so
// many have no token in common, none is returned, but the one to ask the others for.
func (s *Stores) Agree(grants []driver.Grant, many int) (first uint64, tokens int) {
	lasts := make([]uint64, 0, len(s.Nodes))
	for i := range grants {
		first = max(first, grants[i].Token)
		last := grants[i].Token + uint64(grants[i].Tokens) - 1
		lasts = append(lasts, last)
		s.tokens.saw(last)
	}
	slices.Sort(lasts)
	if shared := lasts[len(lasts)-many]; shared >= first {
		return first, int(shared - first + 1)
	}
	return first, 0
}
