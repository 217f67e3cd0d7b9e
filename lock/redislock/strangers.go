package redislock

import (
	"context"
	"maps"
	"strconv"
	"time"

	"github.com/bedrock-go/bedrock/redisconn"
)

// strangers are those who want a lock and stand in no line for it. Now and then it is released for them, and
// who stands holds back: until one of them has had it, or their lead is over.
type strangers struct {
	met   time.Time     // when it was released for them last
	until time.Time     // when their lead is over
	ended chan struct{} // closed when one of them has had the lock before; nil while nobody waits for that

	vain int       // how many leads of those who listen were, in a row, with the one that is not over
	came bool      // one has had the lock since the last one began
	rest time.Time // until when they have next to none, for they do not come

	looks  int64     // how often somebody looked at a lock of this server, by the last release for them
	looked time.Time // when those who look had a lead last
	firm   bool      // theirs it is: none of them tells when it has had the lock
}

const (
	// shortestLead is that of those who seem not to be there.
	shortestLead = time.Millisecond
	// leadTime is that of those who listen. After so many in vain they rest: one that looks now and then may have
	// been quicker, and nobody hears of that.
	leadTime = 64 * time.Millisecond
	mostVain = 4
	// lookersLead is longer than Redisson's spin lock pauses, so that each of them meets it.
	lookersLead = 150 * time.Millisecond
	lookersRest = 2 * time.Second // who looks at other locks of the server cannot be told from them

	// longestLook is the longest pause between looks at a lock of another library, which may be released unheard.
	longestLook = 2 * time.Second

	strangersRest = 5 * time.Second // who listened in vain
	strangersLife = 10 * time.Second
	mostStrange   = 1024 // locks of which strangers are remembered
)

// The texts of releases. By othersTurn Redisson wakes everybody who waits; a number above that, negative
// if othersTurn follows, is how often somebody looked at a lock of the server, for who may be looking.
const (
	release    = "0"
	othersTurn = "1"
)

// hearTurn takes in what a release says of whose turn it is. hub.mu is held.
func (s *heirs) hearTurn(channel, text string) {
	if s == nil {
		return
	}
	o := s.strange[channel]
	if text == release {
		o.hadLock()
		return
	}
	if o == nil || time.Since(o.met) > strangersLife {
		if o = s.newStrangers(channel); o == nil {
			return
		}
	}
	o.met = time.Now()
	switch n, err := strconv.ParseInt(text, 10, 64); {
	case err != nil:
	case text == othersTurn:
		o.giveLead(o.listenersLead(), false)
	default:
		if lead := o.lookersLead(max(n, -n)); lead > 0 {
			o.giveLead(lead, true)
		} else if n > 0 {
			o.giveLead(shortestLead, false)
		}
	}
}

// newStrangers remembers those of a lock; nil where there are too many.
func (s *heirs) newStrangers(channel string) *strangers {
	if len(s.strange) >= mostStrange {
		maps.DeleteFunc(s.strange, func(_ string, o *strangers) bool { return time.Since(o.met) > strangersLife })
	}
	if len(s.strange) >= mostStrange {
		return nil
	}
	o := &strangers{looks: -1}
	s.strange[channel] = o
	s.met.Store(true)
	return o
}

// hadLock enters that somebody has had the lock.
func (o *strangers) hadLock() {
	if o == nil || !time.Now().Before(o.until) {
		return
	}
	o.came = true
	if !o.firm {
		o.endLead()
	}
}

// endLead ends the lead.
func (o *strangers) endLead() {
	if o.ended != nil {
		close(o.ended)
	}
	o.ended, o.until = nil, time.Time{}
}

// giveLead lets strangers go first for so long, at least.
func (o *strangers) giveLead(lead time.Duration, firm bool) {
	if until := time.Now().Add(lead); until.After(o.until) {
		o.until, o.firm = until, firm
	}
}

// listenersLead returns the lead of those who listen, unless they have one: who has made a release hears of it
// twice.
func (o *strangers) listenersLead() time.Duration {
	now := time.Now()
	switch {
	case now.Before(o.until):
		return 0
	case o.came:
		o.came, o.rest, o.vain = false, time.Time{}, 0
	case now.Before(o.rest):
		return shortestLead
	case o.vain == mostVain:
		o.rest, o.vain = now.Add(strangersRest), mostVain-1 // one more chance after that
		return shortestLead
	}
	o.vain++
	return leadTime
}

// lookersLead returns the lead of those who only look now and then, if there may be some.
func (o *strangers) lookersLead(looks int64) time.Duration {
	now, more := time.Now(), o.looks >= 0 && looks > o.looks
	o.looks = looks
	if !more || now.Sub(o.looked) < lookersRest {
		return 0
	}
	o.looked = now
	return lookersLead
}

// releasedForStrangers takes in what the answer to a release says of whose turn it is: who has made it may ask
// again before it hears of it.
func (s *heirs) releasedForStrangers(channel string, answer redisconn.Reply) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	for i := 1; i < answer.Len(); i++ {
		s.hearTurn(channel, answer.At(i).Str)
	}
}

// meetForeign records that a client of another library has a lock. Not all of them tell of their releases, so who
// waits looks again soon.
func (s *heirs) meetForeign(channel string) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	if o := s.strange[channel]; o != nil {
		o.came = true
	}
	if t := s.hub.topics[channel]; t != nil && !t.looking {
		t.looking = true
		time.AfterFunc(min(foreignLook<<min(t.looks, 10), longestLook), t.lookAgain)
		t.looks++
	}
}

// lookAgain wakes who waits.
func (t *topic) lookAgain() {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	t.looking = false
	for e := range t.ears {
		e.miss()
	}
}

// giveWay waits while strangers have their lead.
func (s *heirs) giveWay(ctx context.Context, channel string) error {
	for s.met.Load() {
		left, ended := s.leadLeft(channel)
		if left <= 0 {
			return nil
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-ended:
		case <-s.hub.background.Done():
			timer.Stop()
			return errClosed
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		timer.Stop()
	}
	return nil
}

// leadLeft returns how long strangers may go first, and what tells that they need not.
func (s *heirs) leadLeft(channel string) (left time.Duration, ended <-chan struct{}) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	o := s.strange[channel]
	if o == nil {
		return 0, nil
	}
	if o.ended == nil {
		o.ended = make(chan struct{})
	}
	return time.Until(o.until), o.ended
}

// strangersRest reports whether those of a lock do not come, though they listen.
func (s *heirs) strangersRest(channel string) bool {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	o := s.strange[channel]
	return o != nil && time.Now().Before(o.rest)
}
