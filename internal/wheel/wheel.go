// Package wheel is a hierarchical timing wheel: very many deadlines at the
// price of a list insertion each, and no work at all for those that are
// cancelled before they are due.
//
// A wheel keeps no clock and starts no goroutine. Its user says what time it is
// ([Wheel.Advance]) and asks when something will happen next ([Wheel.Next]).
// It is not safe for concurrent use.
package wheel

import "math/bits"

const (
	digit  = 6          // bits per level
	slots  = 1 << digit // slots per level
	levels = 7          // 2^42 ticks: 139 years of milliseconds
	maxAt  = int64(1)<<(digit*levels) - 1
)

// Entry is one deadline. The zero Entry with an Owner is ready to be scheduled;
// it lives inside the thing it is the deadline of.
type Entry struct {
	// Owner is what the deadline belongs to; the wheel does not look at it.
	Owner any

	at         int64
	list       *list
	prev, next *Entry
}

// Scheduled reports whether the entry is in a wheel.
func (e *Entry) Scheduled() bool { return e.list != nil }

// Wheel holds entries by the tick at which they are due. The zero Wheel is
// empty, at tick 0.
//
// An entry stands on the level of the highest digit in which its tick differs
// from the present one, so every entry on a lower level is due before every
// entry on a higher one, and a slot never wraps around.
type Wheel struct {
	now    int64
	len    int
	filled [levels]uint64 // one bit per non-empty slot
	lists  [levels][slots]list
}

// list is a doubly linked list that knows its place.
type list struct {
	first       *Entry
	level, slot uint8
}

// Len returns how many entries are scheduled.
func (w *Wheel) Len() int { return w.len }

// Schedule makes the entry due at tick at, moving it if it was scheduled
// already. A tick that has passed means the next Advance.
func (w *Wheel) Schedule(e *Entry, at int64) {
	w.Cancel(e)
	e.at = min(max(at, w.now+1), maxAt)
	w.len++
	w.place(e)
}

// Cancel takes the entry out. It does nothing when it is not scheduled.
func (w *Wheel) Cancel(e *Entry) {
	if e.list == nil {
		return
	}
	w.unlink(e)
	w.len--
}

// Next returns the tick up to which nothing is due: a lower bound of the
// earliest entry's tick, exact when that entry is near. ok is false when the
// wheel is empty.
func (w *Wheel) Next() (at int64, ok bool) {
	level, slot, ok := w.earliest()
	if !ok {
		return 0, false
	}
	return w.start(level, slot), true
}

// Advance moves the wheel to tick now and appends the entries that are due to
// dst. They are no longer scheduled.
func (w *Wheel) Advance(now int64, dst []*Entry) []*Entry {
	for {
		level, slot, ok := w.earliest()
		if !ok || w.start(level, slot) > now {
			w.now = max(w.now, now)
			return dst
		}
		w.now = w.start(level, slot)
		dst = w.empty(&w.lists[level][slot], dst)
	}
}

// empty takes the slot that now begins apart: what is due goes to dst, the rest
// to lower levels.
func (w *Wheel) empty(l *list, dst []*Entry) []*Entry {
	for l.first != nil {
		e := l.first
		w.unlink(e)
		if e.at <= w.now {
			w.len--
			dst = append(dst, e)
			continue
		}
		w.place(e)
	}
	return dst
}

// earliest returns the slot that begins first.
func (w *Wheel) earliest() (level, slot int, ok bool) {
	for level := range levels {
		if w.filled[level] != 0 {
			return level, bits.TrailingZeros64(w.filled[level]), true
		}
	}
	return 0, 0, false
}

// start returns the first tick of a slot.
func (w *Wheel) start(level, slot int) int64 {
	above := digit * (level + 1)
	return w.now>>above<<above | int64(slot)<<(digit*level)
}

func (w *Wheel) place(e *Entry) {
	level := (bits.Len64(uint64(e.at^w.now)) - 1) / digit
	slot := e.at >> (digit * level) & (slots - 1)
	l := &w.lists[level][slot]
	l.level, l.slot = uint8(level), uint8(slot)
	e.list, e.prev, e.next = l, nil, l.first
	if l.first != nil {
		l.first.prev = e
	}
	l.first = e
	w.filled[level] |= 1 << slot
}

func (w *Wheel) unlink(e *Entry) {
	l := e.list
	if e.prev != nil {
		e.prev.next = e.next
	} else {
		l.first = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	}
	if l.first == nil {
		w.filled[l.level] &^= 1 << l.slot
	}
	e.list, e.prev, e.next = nil, nil, nil
}
