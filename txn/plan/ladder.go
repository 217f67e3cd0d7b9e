package plan

import (
	"hash/fnv"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// Defaults of policies.
const (
	DefaultTimeout    = 10 * time.Second
	DefaultBackoff    = 500 * time.Millisecond
	DefaultMaxBackoff = time.Minute
	DefaultCheckAfter = 10 * time.Second

	defaultPending = time.Second

	// A call that one coordinator cannot make is tried by others after these pauses. Even
	// the first is too long to be sat out in memory.
	firstSearch, lastSearch = time.Second, 30 * time.Second

	// LastingAttempts is how often in a row an answer that does not change is asked for
	// where a policy sets no limit: about a minute, so that a participant that is being
	// replaced has the time for it.
	LastingAttempts = 8
)

// Pause is how long to wait after failure number n: the back-off doubled n-1
// times, at most the maximum, less up to a quarter drawn from the seed, so that
// transactions that failed together do not come back together.
func Pause(p txn.Policy, n int, seed uint64) time.Duration {
	pause := orDefault(p.Backoff, DefaultBackoff)
	longest := max(pause, orDefault(p.MaxBackoff, DefaultMaxBackoff))
	for ; n > 1 && pause < longest; n-- {
		pause *= 2
	}
	pause = min(pause, longest)
	share := (seed + uint64(n)*0x9E3779B97F4A7C15) % 1024
	return pause - time.Duration(uint64(pause/4)*share/1024)
}

// Timeout bounds one call.
func Timeout(p txn.Policy) time.Duration { return orDefault(p.Timeout, DefaultTimeout) }

// seed differs between the operations of all transactions.
func seed(t *txn.Transaction, s txn.Step) uint64 {
	h := fnv.New64a()
	h.Write([]byte(t.ID))
	h.Write([]byte(s.Phase))
	h.Write([]byte{byte(s.Branch), byte(s.Branch >> 8)})
	return h.Sum64()
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}
