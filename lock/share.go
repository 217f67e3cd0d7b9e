package lock

import (
	"time"

	"github.com/bedrock-go/bedrock/internal/chance"
)

const (
	turnGrants    = 12                    // the most grants of a turn: each is a round trip
	turnTime      = 10 * time.Millisecond // and until when there is another, however long one is passed on
	shortestYield = time.Millisecond      // how long others are given to come, at first
	nearYield     = 4 * time.Millisecond  // up to where they count as near
	longestYield  = 64 * time.Millisecond // and at most
	shortestEcho  = 2 * time.Millisecond  // how late the wake-up by the own release may be
	strictly      = 8                     // of so many turns one waits for all even if they are near
	absence       = 2 * time.Second       // for how long nobody waits for those who did not come
	forgiven      = 4                     // how often in a row those who came before may be late
	shareLife     = 10 * time.Second      // for how long a share is remembered that is not used
)

// share keeps this process to its share of a name that other processes wait for.
//
// Those who are closer to the store hear first that a lock is free, and ask first.
// So a process has a turn: it may have the lock time and again, passed on or asked
// for anew, until its budget is used up. Then it owes every other process that waits
// one go, and holds back until they have had it. They are given some time to come,
// which grows when it was not enough: that is how far away they are.
//
// There is a share only while others wait, one for all queues of the name, and a
// while longer. part.mu guards it.
type share struct {
	began  time.Duration // when the turn began
	grants int           // of the turn so far; 0 when the next one begins a turn
	leases int           // served by them

	owed    int           // how many others may go first
	all     bool          // whether that is everybody
	strange bool          // whether they are strangers: only who is seen has come
	asked   bool          // whether somebody has asked for it: however far away that is
	freed   time.Duration // since when the lock may have been free
	pause   time.Duration // how long others are given to come

	gone        int           // how many goes others have had since they were owed some
	seen        sightings     // whose they were, as far as that is known
	company     company       // who was seen to have the lock at all
	came        int           // how many of those owed something have had their go
	regulars    int           // how many did so lately
	misses      int           // how often in a row not all of them came
	absent      int           // how many of those who listen do not come
	absentUntil time.Duration // until they are given another chance

	departures
}

// account enters a grant that this process gave back before now, when so many others
// waited.
func (s *share) account(h *hold, waiting int, now time.Duration) {
	if s.grants == 0 {
		s.began = h.since
	}
	s.grants++
	s.leases += h.served()
	s.freed, s.owed, s.strange, s.asked = now, 0, false, h.plea != nil
	others := max(waiting-s.missing(now), 0)
	strangers := s.company.account(s.present(waiting, others, now))
	switch {
	case s.asked:
		s.oweAll(max(others, 1))
	case strangers > 0:
		s.oweStrangers(strangers, now)
	case s.usedUp(h.q.client.opts.HandOff, now):
		s.owe(others, h.q.client.draw)
	}
}

// owe lets others go first: all of them as soon as some are known to be far away, else
// most often just one, whoever is quickest.
func (s *share) owe(others int, draw chance.Draw) {
	s.oweAll(others)
	if s.all = others <= 1 || s.far() || draw(strictly) == 0; !s.all {
		s.owed = 1
	}
}

func (s *share) oweAll(others int) {
	s.all, s.owed, s.came, s.gone = true, others, 0, 0
	s.seen.beginAnew()
}

func (s *share) far() bool { return s.pause > nearYield }

// usedUp reports whether the turn is over.
func (s *share) usedUp(budget HandOff, now time.Duration) bool {
	return s.grants >= turnGrants || s.leases >= budget.Count || now-s.began >= min(budget.Time, turnTime)
}

// missing returns how many of those who seem to wait need not be waited for.
func (s *share) missing(now time.Duration) int {
	if now < s.absentUntil {
		return s.absent
	}
	return 0
}

// refused enters who had the lock when it was asked for.
func (s *share) refused(owner string, now time.Duration) {
	stranger := s.company.saw(owner, now)
	switch {
	case s.owed == 0:
	case !s.strange:
		s.seen.saw(owner)
	case stranger:
		s.strangerSeen(now)
	}
}

// passed enters that others have had the lock, which is free again. Where nobody told
// who that was, it counts as somebody who had not gone yet.
func (s *share) passed(n int, now time.Duration) {
	if n <= 0 {
		return
	}
	s.company.goes += n
	switch {
	case s.strange:
		s.strangerGone(now)
	case s.owed > 0:
		s.gone += n
		n = min(max(s.gone-s.seen.again-s.came, 0), s.owed)
		s.owed, s.came = s.owed-n, s.came+n
		s.freed = now
	}
}

// due returns until when those who are owed something are given time.
func (s *share) due() time.Duration {
	switch {
	case s.strange:
		return s.freed + max(s.pause, s.company.reach)
	case s.asked:
		return s.freed + longestYield
	default:
		return s.freed + s.pause
	}
}

// enterGrant enters that a request made at sent was granted, after others were seen to
// have had the lock, after holding back, or both.
func (s *share) enterGrant(sent time.Duration, others, yielded bool) {
	switch {
	case s.strange:
		s.grants, s.leases = 0, 0
		if s.owed > 0 && yielded {
			s.missedStrangers(sent)
		}
	case s.owed == 0 && yielded:
		s.shorten()
		s.grants, s.leases = 0, 0
	case s.owed == 0 && others:
		s.grants, s.leases = 0, 0
	case s.owed > 0 && sent >= s.due():
		s.grants, s.leases = 0, 0
		if yielded {
			s.lengthen(sent)
		}
	}
}

// shorten gives others a little less time when all of them came.
func (s *share) shorten() {
	s.regulars, s.misses = max(s.regulars, s.came), 0
	switch {
	case s.all && s.far():
		s.pause = s.pause * 31 / 32
	case s.all:
		s.pause = max(s.pause*3/4, shortestYield)
	}
}

// lengthen gives those who did not come more time.
func (s *share) lengthen(now time.Duration) {
	if s.pause == longestYield {
		s.missed(now)
	}
	s.pause = min(2*s.pause, longestYield)
}

// missed goes on for a while without those who did not come in the longest time: there
// are some who only listen. Who came lately is only late, unless that goes on.
func (s *share) missed(now time.Duration) {
	if s.misses++; s.misses > forgiven {
		s.regulars = s.came
	}
	if strangers := s.came + s.owed - max(s.came, s.regulars); strangers > 0 {
		s.absent, s.absentUntil = s.missing(now)+strangers, now+absence
	}
}
