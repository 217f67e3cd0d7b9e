package coord

import (
	"sync/atomic"
	"time"
)

// clock follows the store's clock. Between two readings it counts on with the
// local monotonic clock, so that a jump of this machine's wall clock moves no
// deadline.
type clock struct {
	reading atomic.Pointer[reading]
}

// reading is what is known of the store's clock: at a local time it showed store, or up
// to doubt more. Nobody knows when on the way of an answer it was read.
type reading struct {
	store time.Time
	local time.Time
	doubt time.Duration
}

// drift is how much clocks may part: one of them runs one part in so many faster. It is
// what clocks are set right by.
const drift = 2000

// set takes over a reading of the store's clock, which was taken at some time since it
// was asked for. It moves the clock no further than that proves: an answer that was
// long under way says little, and would set it back by that time.
func (c *clock) set(store, asked time.Time) {
	store = store.UTC().Round(0)
	answered := time.Now()
	is := &reading{store: store, local: answered, doubt: answered.Sub(asked)}
	for {
		was := c.reading.Load()
		if was != nil {
			is = was.within(store, asked, answered)
		}
		if c.reading.CompareAndSwap(was, is) {
			return
		}
	}
}

// within is the reading, moved as far as another one demands: the store's clock showed
// that time neither before it was asked nor after it has answered.
func (r *reading) within(store, asked, answered time.Time) *reading {
	most := store.Add(answered.Sub(asked))
	now, latest := r.at(answered), r.latest(answered)
	if now.Before(store) {
		now = store
	}
	if now.After(most) {
		now = most
	}
	if latest.After(most) || latest.Before(now) {
		latest = most
	}
	return &reading{store: now, local: answered, doubt: latest.Sub(now)}
}

// at is the store's time at a local one, as early as it may be.
func (r *reading) at(local time.Time) time.Time { return r.store.Add(local.Sub(r.local)) }

// latest is the store's time at a local one, as late as it may be.
func (r *reading) latest(local time.Time) time.Time {
	since := local.Sub(r.local)
	return r.store.Add(since + since/drift + r.doubt)
}

// now is the store's time, to the microsecond, as stores keep it. It is not ahead of it.
func (c *clock) now() time.Time {
	return c.reading.Load().at(time.Now()).Truncate(time.Microsecond)
}

// latest is the store's time and not behind it, for what must not be done too late.
func (c *clock) latest() time.Time { return c.reading.Load().latest(time.Now()) }

func fromMicro(us int64) time.Time { return time.UnixMicro(us).UTC() }
