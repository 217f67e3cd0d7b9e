package lock

import "time"

// habit is how a name is used in this process. Only what is wanted again within the linger lingers: for all
// else it would keep others out for nothing.
type habit struct {
	name   string
	left   time.Duration // when nobody here had it, nor waited for it, any more
	back   int           // how often in a row somebody came back in time
	served int           // leases, by the last grant
	shared time.Duration // until when it is taken for wanted by others
}

const (
	habitual   = 2           // so often in a row, and somebody is expected to come back
	sharedTime = time.Second // after others wanted it
)

// comesBack reports whether somebody is expected to come back soon, and nobody else to want it.
func (h *habit) comesBack(now time.Duration) bool { return h.back >= habitual && now >= h.shared }

// enterLeave enters that nobody has the name any more, nor waits for it. The last one had it by that hold,
// if it got that far.
func (h *habit) enterLeave(last *hold, now time.Duration) {
	h.left = now
	if last == nil {
		return
	}
	h.served = last.served()
	switch l := last.lingering; {
	case l == nil:
	case l.wanted:
		h.enterShared(now)
	case h.served == 1 && l.left > 0: // it has stayed for nothing
		h.back = 0
	}
}

// enterShared enters that others want it, too.
func (h *habit) enterShared(now time.Duration) {
	if h != nil {
		h.back, h.shared = 0, now+sharedTime
	}
}

// habits are those of the names that nobody here uses at the moment. Each has a place it shares with others:
// the last one is remembered.
type habits struct{ places []*habit }

const habitPlaces = 64 // of each part

// takeHabit removes and returns the habit of a name that is used from now on. It is a new one if nothing is known.
func (l *habits) takeHabit(name string, hash uint64, linger, now time.Duration) *habit {
	if l.places == nil {
		l.places = make([]*habit, habitPlaces)
	}
	place := &l.places[hash%habitPlaces]
	h := *place
	if h == nil || h.name != name {
		return &habit{name: name}
	}
	*place = nil
	if now-h.left <= linger {
		h.back++
	} else {
		h.back = 0
	}
	return h
}

// keepHabit puts a habit aside.
func (l *habits) keepHabit(h *habit, hash uint64) { l.places[hash%habitPlaces] = h }
