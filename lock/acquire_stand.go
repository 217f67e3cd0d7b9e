package lock

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// standing is the queue's request that stands in the store's line. It belongs to the queue: who
// comes to the front goes on with it.
type standing struct {
	owner  string
	want   *want
	sent   time.Duration // when it was made last, of the requests that were answered
	claim  time.Duration // how long it stands from then on, and how long what it is granted lives
	token  uint64        // the first of what it is granted
	rising bool          // that is not known, but higher than token
	holder string        // who had the lock then
	idle   bool          // and the time before: it lapses, for nobody moves on
	handed chan driver.Grant
}

const (
	standAgain    = 0.4 // of a claim: when to ask again, in time
	longEnough    = 0.4 // of a claim: how much must be left of it, so that the lock need not be asked for
	fewestGranted = 16  // tokens reserved for whom the lock may be passed on to
)

// makeRequest makes the request of a contest. It may stand in the store's line, unless what it wants has a
// life of its own, from the first moment.
func (k *contest) makeRequest(call context.Context) (driver.Grant, error) {
	c := k.q.client
	k.announceOwner()
	if c.successor == nil || k.try || !k.want.mayStand() {
		return c.backend.Acquire(call, k.req)
	}
	return c.successor.Stand(call, k.req)
}

// announceOwner says under which owner the one at the front asks: it may hear of a grant before the answer is here, and
// listens for that owner's turn.
func (k *contest) announceOwner() {
	if c := k.q.client; c.successor != nil || c.notified || k.q.fair {
		k.q.told.Store(0)
		k.q.asks.Store(numberOf(k.req.Owner))
	}
}

// numberOf tells the owners of a client apart.
func numberOf(owner string) uint64 {
	n, _ := strconv.ParseUint(owner[strings.LastIndexByte(owner, ':')+1:], 10, 64) // see newOwner
	return n
}

// recordStanding records by a refusal that the request stands, or does no more.
func (k *contest) recordStanding(refusal error) {
	held, ok := errors.AsType[*driver.HeldError](refusal)
	before := k.q.standing
	if !ok || held.Claim == 0 {
		if k.want.fair { // it keeps its place, and will be told when to ask
			k.q.standing = nil
		} else if before != nil && k.sent >= before.sent+before.claim { // until then it may be granted the lock
			k.abandonOwner(before.grant())
		}
		return
	}
	s := &standing{
		owner: k.req.Owner, want: k.want, sent: k.sent, claim: held.Claim, token: held.Token,
		rising: held.Rising || k.want.fair, holder: held.Owner,
	}
	if before != nil && !k.want.fair {
		s.idle = before.holder == s.holder && k.sent-before.sent >= s.askAgainAfter()
	}
	k.q.part.mu.Lock()
	s.handed = k.q.mailbox()
	k.q.part.mu.Unlock()
	k.q.standing = s
}

func (s *standing) askAgainAfter() time.Duration { return time.Duration(standAgain * float64(s.claim)) }

// shorten shortens the pause of a contest that stands: it asks again in time, to go on standing.
func (s *standing) shorten(pause time.Duration) time.Duration {
	if s == nil || s.idle {
		return pause
	}
	return min(pause, s.askAgainAfter())
}

// adoptStanding lets a contest go on with the request that stands, if it wants the same; else that
// is given back.
func (k *contest) adoptStanding() {
	s := k.q.standing
	switch {
	case s == nil:
	case !k.try && *s.want == *k.want:
		k.req.Owner = s.owner
	default:
		k.q.abandonStanding()
	}
}

// endStanding forgets the request that stands: what it is granted from now on nobody wants.
func (q *queue) endStanding() {
	q.standing = nil
	q.asks.Store(0)
}

// abandonStanding gives back what the request that stands may be granted.
func (q *queue) abandonStanding() {
	s := q.standing
	if s == nil {
		return
	}
	q.endStanding()
	q.client.releaseUnknown(*s.grant(), nil)
}

// grant returns what the request that stands may be granted.
func (s *standing) grant() *driver.Grant {
	return &driver.Grant{Name: s.want.name, Owner: s.owner, Mode: s.want.mode, TTL: s.want.ttl} // of a mutex
}

// settleStanding ends a contest whose request stands, and that nobody goes on with: what it was granted is given
// back before its caller is told, if the store answers soon. It reports whether that is certain.
func (k *contest) settleStanding() bool {
	s, inLine := k.q.standing, k.want.fair && k.waited
	if s == nil && !inLine || !k.doubt.Resolved() || k.q.hasSuccessor(k.want) {
		return true // or in doubt anyway
	}
	ctx, cancel := context.WithTimeout(k.q.client.background, releaseGrace)
	defer cancel()
	_, err := k.q.client.backend.Release(ctx, k.req.Ungranted())
	if err == nil || errors.Is(err, driver.ErrLost) {
		k.q.endStanding()
		k.waited = false
		return true
	}
	k.q.abandonStanding()
	return s == nil
}

// hasSuccessor reports whether the next one of the queue wants the same.
func (q *queue) hasSuccessor(w *want) bool {
	q.part.mu.Lock()
	defer q.part.mu.Unlock()
	next := q.waiters.first
	return next != nil && *next.want == *w
}

// grantsHeard returns where the queue is told of what is granted to the request that stands, nil if none
// does.
func (q *queue) grantsHeard() <-chan driver.Grant {
	if q.standing == nil {
		return nil
	}
	return q.standing.handed
}

// isHanded reports whether something was granted to the request that stands, or may have been.
func (k *contest) isHanded() bool { return k.handed.Owner != "" || len(k.q.grantsHeard()) > 0 }

// takeHanded returns what the store has granted to the request that stands, if it has. The owner may have
// been granted the lock before, and have lost it without knowing; that message may come late. While a
// request has got no answer, nobody knows which of them it is: the next one tells.
func (k *contest) takeHanded() (driver.Grant, bool) {
	if k.handed.Owner == "" {
		select {
		case k.handed = <-k.q.grantsHeard():
		default:
		}
	}
	g, s := k.handed, k.q.standing
	k.handed = driver.Grant{}
	if !s.isFor(&g) || !k.doubt.Resolved() {
		return g, false
	}
	left := s.sent + s.claim - k.q.client.now()
	return g, left >= time.Duration(longEnough*float64(s.claim))
}

// isFor reports whether that is the grant which the request stands for.
func (s *standing) isFor(g *driver.Grant) bool {
	if s == nil || g.Tokens == 0 || g.Owner != s.owner {
		return false
	}
	return g.Token == s.token || s.rising && s.isNewer(g)
}

// inherit makes a grant the caller's that was passed on. It lives for the claim, from some time
// after the request was made that stands.
func (k *contest) inherit(ctx, parent context.Context, grant driver.Grant) (*Lease, error) {
	s := k.q.standing
	k.sent = s.sent
	k.enterGrant()
	return k.acceptGrant(ctx, parent, grant, s.sent, s.claim)
}
