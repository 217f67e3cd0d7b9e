package sim

import (
	"fmt"
	"time"
)

// Ill is a way in which a network or the server behind it misbehaves.
type Ill string

// The ills. All of them can happen to a server somewhere.
const (
	// Frozen: the server takes nothing up until it is over, and then everything.
	Frozen Ill = "frozen"
	// Cut: requests are lost on their way.
	Cut Ill = "cut"
	// Mute: requests arrive, and answers are lost.
	Mute Ill = "mute"
	// Refusing: the connection is refused; the caller knows that nothing was sent.
	Refusing Ill = "refusing"
	// Breaking: the connection breaks after the request, or after the answer was made.
	Breaking Ill = "breaking"
	// Slow: requests take much longer, and arrive after their callers have gone.
	Slow Ill = "slow"
	// Twice: the request arrives a second time, much later.
	Twice Ill = "twice"
)

// Ills lists all.
func Ills() []Ill { return []Ill{Frozen, Cut, Mute, Refusing, Breaking, Slow, Twice} }

// Everybody is the link of a trouble that all links have.
const Everybody = -1

// Trouble is an ill that lasts for a while.
type Trouble struct {
	Ill      Ill
	Link     int // or Everybody
	From, To time.Duration
	Share    float64 // of the messages it befalls
}

func (t Trouble) String() string {
	who := "all links"
	if t.Link != Everybody {
		who = fmt.Sprintf("link %d", t.Link)
	}
	return fmt.Sprintf("%s to %s: %s is %s for %.0f %% of the messages", t.From, t.To, who, t.Ill, 100*t.Share)
}

// befalls reports whether a message sent at some time is hit.
func (t *Trouble) befalls(link int, at time.Duration, s Seed) bool {
	return (t.Link == link || t.Link == Everybody) && t.From <= at && at < t.To && s.Chance(t.Share)
}

// DrawTrouble draws one for a run of this length.
func DrawTrouble(r *Rand, links int, length time.Duration) Trouble {
	t := Trouble{Ill: Pick(r, Ills()...), Link: r.IntN(links+1) - 1, Share: Pick(r, 0.05, 0.3, 0.5, 1, 1)}
	t.From = r.Between(0, length)
	t.To = t.From + Pick(r, r.Between(0, length/50), r.Between(0, length/8), r.Between(0, length/3))
	t.To = min(t.To, length)
	return t
}
