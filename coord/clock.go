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

// set takes over a reading of the store's clock.
func (c *clock) set(store time.Time) {
	c.reading.Store(&reading{store: store.UTC().Round(0), local: time.Now()})
}

// now is the store's time, to the microsecond, as stores keep it.
func (c *clock) now() time.Time {
	r := c.reading.Load()
	return r.store.Add(time.Since(r.local)).Truncate(time.Microsecond)
}

func fromMicro(us int64) time.Time { return time.UnixMicro(us).UTC() }
