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

type reading struct {
	store time.Time
	local time.Time
}

// set takes over a reading of the store's clock, which was taken at some time since it
// was asked for. It moves the clock no further than that proves: an answer that was
// long under way says little, and would set it back by that time.
func (c *clock) set(store, asked time.Time) {
	store = store.UTC().Round(0)
	answered := time.Now()
	for {
		was := c.reading.Load()
		is := &reading{store: store, local: answered}
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
	switch {
	case r.at(answered).Before(store):
		return &reading{store: store, local: answered}
	case r.at(asked).After(store):
		return &reading{store: store, local: asked}
	default:
		return r
	}
}

// at is the store's time at a local one.
func (r *reading) at(local time.Time) time.Time { return r.store.Add(local.Sub(r.local)) }

// now is the store's time, to the microsecond, as stores keep it.
func (c *clock) now() time.Time {
	return c.reading.Load().at(time.Now()).Truncate(time.Microsecond)
}

func fromMicro(us int64) time.Time { return time.UnixMicro(us).UTC() }
