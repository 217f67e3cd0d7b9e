package coord

import (
	"log/slog"
	"sync/atomic"
	"time"
)

// inherited counts the transactions whose owners have fallen silent, and logs how many were
// taken over: not each of them, since there are thousands when a replica dies.
type inherited struct {
	log   *slog.Logger
	count atomic.Int64
	told  time.Time // for logInherited alone
}

// logInherited writes at most one line a second.
func (i *inherited) logInherited(replica string) {
	now := time.Now()
	if i.count.Load() == 0 || now.Sub(i.told) < time.Second {
		return
	}
	i.told = now
	i.log.Info("transactions taken over, whose leases had run out", "count", i.count.Swap(0), "by", replica)
}
