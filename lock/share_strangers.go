package lock

import "time"

// strangeYield is what strangers are given when the longest time told nothing.
const strangeYield = 8 * time.Millisecond

// present returns how many others are taken into account: those who were seen lately are
// there, even if somebody was missed.
func (s *share) present(waiting, others int, now time.Duration) int {
	return min(max(others, s.company.lately(now)), waiting)
}

// oweStrangers lets strangers go first. Those who have been absent get one more chance.
func (s *share) oweStrangers(strangers int, now time.Duration) {
	s.strange = true
	s.owed, s.came, s.gone = strangers, 0, 0
	if s.absent > 0 && now >= s.absentUntil {
		s.company.reach, s.company.vain = longestYield, 1
	}
}

// strangerSeen enters that one of the strangers has come.
func (s *share) strangerSeen(now time.Duration) {
	s.owed, s.came = s.owed-1, s.came+1
	if s.owed == 0 && now >= s.absentUntil {
		s.absent = 0
	}
}

// strangerGone gives the other strangers time anew when one of them has had its go.
func (s *share) strangerGone(now time.Duration) {
	if s.came > s.gone {
		s.gone, s.freed = s.came, now
	}
}

// missedStrangers gives strangers more time who did not come. When even the longest was
// in vain, those who were not seen lately only listen; and if there are none, the others
// may have come and gone meanwhile: less time will tell.
func (s *share) missedStrangers(now time.Duration) {
	if !s.company.missed() {
		return
	}
	s.company.reach = strangeYield
	if s.absent = max(s.owed+s.company.met()-s.company.lately(now), 0); s.absent > 0 {
		s.company.reach, s.absentUntil = shortestYield, now+absence
	}
}
