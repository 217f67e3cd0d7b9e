package locks

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/sim"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// The rules.
const (
	ruleExclusion = "never two at once"
	ruleTokens    = "tokens rise"
	ruleLoss      = "no lease is lost while its store answers"
	ruleIdle      = "no free lock beside somebody who waits"
	ruleGhost     = "no grant that nobody holds"
	ruleStarved   = "no process starves"
	rulePrompt    = "a call ends with its context"
	ruleTruth     = "an unlock tells the truth"
	ruleErrors    = "no error on a healthy store"
	ruleRest      = "at rest nothing happens"
	ruleStorm     = "no storm of requests"
	ruleTwin      = "memlock does what the model does"
	ruleEnds      = "every wait ends"
)

// ending is why a lease is over at the store.
type ending string

const (
	released ending = "released"
	ranOut   ending = "ran out"
	forced   ending = "forced"
)

// aftermath is how long a trouble may be felt after its end: the longest pauses of
// a client that has to find its way back.
const aftermath = 8 * time.Second

// judge sees what the store does and what the clients are told, and knows the rules.
type judge struct {
	report *sim.Report
	net    *sim.Net
	slack  time.Duration // some round trips on the longest link
	// lossless says that clients know when calls that they have left behind end.
	lossless bool
	lags     *lags
	stepping bool // the store's clock jumps, and may end leases early
	two      bool // processes, and no more: they take turns
	// lingering says that an unlock may not ask the store.
	lingering bool

	mu     sync.Mutex
	names  map[string]*story
	owners map[string]*fact
	window map[int]burst
	calls  int
}

// story is what is known of one name.
type story struct {
	free      bool
	freeSince time.Duration
	waiting   int // Locks under way
	since     time.Duration
	waits     map[*want]bool
	believer  *belief
	believed  time.Duration // since when
	token     uint64
	uneven    bool // a grant was taken away by force
}

// fact is what is known of one grant.
type fact struct {
	granted time.Duration
	over    bool
	ended   time.Duration
	how     ending
	left    time.Duration // when its last holder has gone
	holders int
	token   uint64 // the last one that was told
	ttl     time.Duration
	minHold bool
	untruth string // what is wrong with the last unlock, unless it was passed on
}

// want is a Lock under way.
type want struct {
	client  int
	since   time.Duration // or when its process was granted the lock last
	foreign int           // grants to others meanwhile
}

// belief is a holder who has reason to believe that it has the lock.
type belief struct {
	lease   *lock.Lease
	client  int
	leaving bool
}

type burst struct {
	second time.Duration
	calls  int
}

func newJudge(r *sim.Report, n *sim.Net, slack time.Duration) *judge {
	return &judge{
		report: r, net: n, slack: slack,
		names: make(map[string]*story), owners: make(map[string]*fact), window: make(map[int]burst),
	}
}

// story finds what is known of a name. j.mu is held.
func (j *judge) story(name string) *story {
	s := j.names[name]
	if s == nil {
		s = &story{free: true, waits: make(map[*want]bool)}
		j.names[name] = s
	}
	return s
}

// well reports whether nothing has been wrong anywhere since a time, nor shortly
// before.
func (j *judge) well(since time.Duration) bool {
	return j.net.Well(sim.Everybody, since-aftermath) && !j.lags.since(since-aftermath)
}

// called counts a request, and finds storms.
func (j *judge) called(client int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.calls++
	now := j.report.Now().Truncate(time.Second)
	b := j.window[client]
	if b.second != now {
		b = burst{second: now}
	}
	b.calls++
	j.window[client] = b
	if b.calls == mostPerSecond {
		j.report.Break(ruleStorm, "client %d made %d requests within a second", client, b.calls)
	}
}

// mostPerSecond is more than the liveliest plan has reason for.
const mostPerSecond = 20000

// addGrant is told by the store.
func (j *judge) addGrant(l *lease, client int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s, now := j.story(l.name), j.report.Now()
	j.idle(s, l.name, now)
	s.free = false
	if f := j.owners[l.owner]; f != nil && f.holders > 0 { // a late copy of its request; it was taken away by force
		f.over = false
	} else {
		j.owners[l.owner] = &fact{granted: now, ttl: l.ttl}
	}
	for w := range s.waits {
		if w.client != client {
			w.foreign++
			continue
		}
		j.starved(l.name, w, now)
		w.since, w.foreign = now, 0
	}
}

// starved judges how long one of two processes was passed over.
func (j *judge) starved(name string, w *want, now time.Duration) {
	if j.two && w.foreign > mostForeign && now-w.since > starving && j.well(w.since) {
		j.report.Break(ruleStarved, "client %d waited %s for %s, while others were granted it %d times",
			w.client, now-w.since, name, w.foreign)
	}
}

// idle judges how long a lock has been free beside somebody who waits.
func (j *judge) idle(s *story, name string, now time.Duration) {
	if !s.free || s.waiting == 0 {
		return
	}
	from := max(s.since, s.freeSince)
	if d := now - from; d > j.slack+300*time.Millisecond && j.well(from) && !s.uneven && !j.stepping {
		j.report.Break(ruleIdle, "%s was free for %s and somebody waited for it", name, d)
	}
}

// addEnd is told by the store.
func (j *judge) addEnd(l *lease, at time.Duration, how ending) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s, f := j.story(l.name), j.owners[l.owner]
	s.free, s.freeSince = true, at
	f.over, f.ended, f.how = true, at, how
	j.lingered(l, s, f, at)
	j.ghost(l, f, at)
}

// mostAlone is how long a grant may stand without a holder. Where nothing is lost but
// some of it is slow, that is some slow requests; elsewhere until it runs out.
func (j *judge) mostAlone(f *fact) time.Duration {
	switch {
	case j.well(f.granted):
		return time.Second + j.slack
	case j.lossless && j.net.Lossless():
		return 5*time.Second + j.slack
	default:
		return time.Hour
	}
}

// ghost judges how long a grant stood that nobody held.
func (j *judge) ghost(l *lease, f *fact, at time.Duration) {
	from := max(f.granted, f.left)
	if f.holders > 0 || f.minHold || j.story(l.name).uneven || at-from < j.mostAlone(f) {
		return
	}
	j.report.Break(ruleGhost, "%s stood for %s under owner %s, whom nobody was", l.name, at-from, short(l.owner))
}

// mostLingered is how long a grant may linger beside somebody who wants it, and cannot say so.
const mostLingered = 100 * time.Millisecond

// lingered judges for how long a grant stood beside somebody who waited, when nobody held it any more.
func (j *judge) lingered(l *lease, s *story, f *fact, at time.Duration) {
	if !j.lingering || f.holders > 0 || f.minHold || s.uneven || j.stepping || s.waiting == 0 || f.left == 0 {
		return
	}
	from := max(s.since, f.left)
	if d := at - from; d > j.slack+mostLingered && j.well(from) {
		j.report.Break(ruleIdle, "%s lingered for %s and somebody waited for it", l.name, d)
	}
}

// kept is told of a renewal; one that shortens a lease keeps it for its minimum hold
// time.
func (j *judge) kept(g *driver.Grant) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if f := j.owners[g.Owner]; f != nil && f.ttl != g.TTL {
		f.minHold = true
	}
}

// wants is told that a Lock begins.
func (j *judge) wants(name string, client int) *want {
	j.mu.Lock()
	defer j.mu.Unlock()
	s, w := j.story(name), &want{client: client, since: j.report.Now()}
	if s.waiting++; s.waiting == 1 {
		s.since = w.since
	}
	s.waits[w] = true
	return w
}

// wanted is told that a Lock is over.
func (j *judge) wanted(name string, w *want) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s, now := j.story(name), j.report.Now()
	j.starved(name, w, now)
	delete(s.waits, w)
	if s.waiting == 1 {
		j.idle(s, name, now)
	}
	s.waiting--
}

// How often and how long others may go first. Until a client has learned how far away
// another is, it may be some eighty times.
const (
	mostForeign = 120
	starving    = 500 * time.Millisecond
)

// believe records that a lease was given to somebody. Whoever had the lock before
// must have no reason to believe in it any more.
func (j *judge) believe(l *lock.Lease, client int) *belief {
	_ = l.Context() // made now, so that it ends when the lease does
	b := &belief{lease: l, client: client}
	j.mu.Lock()
	defer j.mu.Unlock()
	s, f := j.story(l.Name()), j.owners[l.Owner()]
	if p := s.believer; p != nil && !p.leaving && p.lease.Context().Err() == nil && !s.uneven && !j.stepping {
		j.report.Break(ruleExclusion, "clients %d and %d both believe that they hold %s, with tokens %d and %d",
			p.client, client, l.Name(), p.lease.Token(), l.Token())
	}
	if l.Token() <= s.token && f.granted > s.believed || l.Token() <= f.token {
		j.report.Break(ruleTokens, "client %d got token %d of %s after %d",
			client, l.Token(), l.Name(), max(s.token, f.token))
	}
	j.cameBack(l, f)
	s.believer, s.token, s.believed = b, max(s.token, l.Token()), j.report.Now()
	f.holders++
	f.token = l.Token()
	f.untruth = "" // it was passed on, and is still to be released
	return b
}

// cameBack judges a lease of a grant that nobody held: none lingers for long, for some who want it cannot say so.
func (j *judge) cameBack(l *lock.Lease, f *fact) {
	now := j.report.Now()
	if f.holders > 0 || f.left == 0 || now == f.left { // it was passed on
		return
	}
	if d := now - f.granted; d > 2*mostLingered+j.slack {
		j.report.Break(ruleIdle, "%s came back %s after it was granted", l.Name(), d)
	}
}

// beginUnlock records that a holder is about to unlock.
func (j *judge) beginUnlock(b *belief) {
	j.mu.Lock()
	defer j.mu.Unlock()
	b.leaving = true
}

// gone records that a holder has unlocked, or was told that it has lost the lock.
func (j *judge) gone(b *belief) {
	j.mu.Lock()
	defer j.mu.Unlock()
	b.leaving = true
	f := j.owners[b.lease.Owner()]
	f.holders--
	f.left = j.report.Now()
}

// unlocked judges an Unlock that says that all is well.
func (j *judge) unlocked(b *belief, called time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	f := j.owners[b.lease.Owner()]
	if j.lingering && (j.stepping || j.story(b.lease.Name()).uneven) {
		return // it does not know what only the store does
	}
	if f.over && f.ended < called && f.holders == 0 {
		f.untruth = fmt.Sprintf("client %d unlocked %s without an error, but it %s at %s",
			b.client, b.lease.Name(), f.how, f.ended)
	}
}

// judgeEnd judges what can be judged in the end only.
func (j *judge) judgeEnd() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, owner := range slices.Sorted(maps.Keys(j.owners)) {
		if text := j.owners[owner].untruth; text != "" {
			j.report.Break(ruleTruth, "%s", text)
		}
	}
}

// total is how many requests there were.
func (j *judge) total() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.calls
}

// disturb records that a lock is about to be taken away by force: its holder learns
// of that at its next renewal only.
func (j *judge) disturb(name string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.story(name).uneven = true
}

// disturbed reports whether that has happened.
func (j *judge) disturbed(name string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.story(name).uneven
}
