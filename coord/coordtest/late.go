package coordtest

import (
	"sync/atomic"
	"time"
)

// latecomers counts the calls that a stall has delayed. A wait group would not do:
// one may come while somebody already waits.
type latecomers struct{ n atomic.Int64 }

// delay makes one call late.
func (l *latecomers) delay(d time.Duration, call func() error) error {
	l.n.Add(1)
	defer l.n.Add(-1)
	time.Sleep(d)
	return call()
}

// waitForAll returns when all have arrived.
func (l *latecomers) waitForAll(poll time.Duration) {
	for l.n.Load() > 0 {
		time.Sleep(poll)
	}
}
