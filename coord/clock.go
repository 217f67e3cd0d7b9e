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

// reading is what is known of the store's clock: at the local time it showed store, or up
// to doubt more. Nobody knows when between question and answer it was read.
type reading struct {
	store time.Time
	local time.Time
	doubt time.Duration
}

// drift bounds how fast clocks part: one may be faster by one part in so many. Machines
// correct their clocks at that rate.
const drift = 2000

// adjust takes over a reading of the store's clock, which was taken at some time between
// asked and now. It moves the clock no further than the reading proves: taken as it is, an
// answer that was long under way would set the clock back by that time.
func (c *clock) adjust(store, asked time.Time) {
	store = store.UTC().Round(0)
	answered := time.Now()
	is := &reading{store: store, local: answered, doubt: answered.Sub(asked)}
	for {
		was := c.reading.Load()
		if was != nil {
			is = was.movedWithin(store, asked, answered)
		}
		if c.reading.CompareAndSwap(was, is) {
			return
		}
	}
}

// movedWithin is the reading, moved just as far as a newer one demands: the store's clock
// showed that newer time at some moment between asked and answered.
func (r *reading) movedWithin(store, asked, answered time.Time) *reading {
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

// now is the store's time or a little earlier, never later, to the microsecond, as stores
// keep times.
func (c *clock) now() time.Time {
	return c.reading.Load().at(time.Now()).Truncate(time.Microsecond)
}

// latest is the store's time or a little later, never earlier, for what must not be done
// too late.
func (c *clock) latest() time.Time { return c.reading.Load().latest(time.Now()) }

func fromMicro(us int64) time.Time { return time.UnixMicro(us).UTC() }
