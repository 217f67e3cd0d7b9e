package coord

import (
	"log/slog"
	"sync/atomic"
	"time"
)

// inherited counts the transactions that owners have left behind who say nothing any
// more, and tells of them: not of each, since there are thousands when a replica dies.
type inherited struct {
	log   *slog.Logger
	count atomic.Int64
	told  time.Time // only who tells has it
}

// tell writes at most one line a second.
func (i *inherited) tell(replica string) {
	now := time.Now()
	if i.count.Load() == 0 || now.Sub(i.told) < time.Second {
		return
	}
	i.told = now
	i.log.Info("transactions taken over, whose leases had run out", "count", i.count.Swap(0), "by", replica)
}
