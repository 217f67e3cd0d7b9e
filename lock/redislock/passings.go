package redislock

import (
	"maps"
	"time"
)

// passings are how locks were passed on to clients that this one acts for. Their grants come back without a handle, so
// what it would have told of the release is kept here. Guarded by hub.mu.
type passings struct {
	byOwner map[string]*passing
	full    int            // how many there may be before those are looked for that nobody will ask for
	here    map[string]int // how many of those clients stand, by channel
	most    map[string]int // and stood at most while the lock was passed on
}

const (
	fewPassings = 1024
	// passingLife is for how long it is remembered how a lock was passed on that may be released somewhere else.
	passingLife = 10 * time.Minute
)

func newPassings() passings {
	return passings{
		byOwner: make(map[string]*passing), full: fewPassings,
		here: make(map[string]int), most: make(map[string]int),
	}
}

// joinHere counts one more who stands for the lock of a channel.
func (p *passings) joinHere(channel string) { p.here[channel]++ }

// leaveHere counts one less.
func (p *passings) leaveHere(channel string) {
	if p.here[channel]--; p.here[channel] <= 0 {
		delete(p.here, channel)
		delete(p.most, channel)
	}
}

// enterPassing keeps how a lock was passed on to somebody who stands. Of those who stand, all listen for the release by
// the same connection, while everybody else has one.
func (p *passings) enterPassing(h *heir, how *passing) {
	channel := h.handle.keys.channel
	most := p.here[channel]
	if how.times > 1 {
		most = max(most, p.most[channel])
	}
	p.most[channel], how.here = most, most
	if len(p.byOwner) >= p.full {
		maps.DeleteFunc(p.byOwner, func(_ string, old *passing) bool { return time.Since(old.heard) > passingLife })
		p.full = 2*len(p.byOwner) + fewPassings
	}
	p.byOwner[h.grant.Owner] = how
}

// passedTo returns how a lock was passed on to an owner of a client that this one acts for; nil if that is not known.
func (s *heirs) passedTo(owner string) *passing {
	if s == nil || s.hub.attended.Load() == 0 {
		return nil
	}
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return s.passed.byOwner[owner]
}

// forgetPassed forgets that when the lock was released.
func (s *heirs) forgetPassed(owner string) {
	if s == nil || s.hub.attended.Load() == 0 {
		return
	}
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	delete(s.passed.byOwner, owner)
}

// listeningBeside returns how many clients that this one acts for listen by its connection, beside the one who has the
// lock: those who stand, which were so many at most, and those who do not.
func (h *hub) listeningBeside(channel string, standing int) int {
	if h.attended.Load() == 0 {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[channel]
	if t == nil {
		return standing
	}
	return max(standing, len(t.ears)-1)
}
