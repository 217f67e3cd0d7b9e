package bedrocktest

import (
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock/memlock"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// Clock is the time of stores in memory, for tests that cannot run in the virtual time
// of testing/synctest. It goes as the real time does, and jumps ahead when it is told
// to: leases run out, deadlines pass, and what waits for its next attempt is due, as if
// all processes had slept for so long.
//
// What the jump is for happens a moment later, in real time: a lease is lost, or
// renewed, within a second, and a coordinator looks for what is due at its next poll
// ([coord.Options].Poll, or Nudge). Timers of this process know nothing of it: a call
// that is under way has its whole time-out, and a wait bounded by a context its whole
// time.
//
// [coord.Options]: https://pkg.go.dev/github.com/bedrock-go/bedrock/coord#Options
type Clock struct {
	mu    sync.Mutex
	ahead time.Duration
	locks []*memlock.Store
}

// NewClock returns a clock that shows the real time.
func NewClock() *Clock { return &Clock{} }

// Now is the time by this clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

// Advance makes the clock jump ahead.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	c.ahead += d
	locks := c.locks
	c.mu.Unlock()
	for _, store := range locks {
		store.Wake()
	}
}

// SkipPauses makes the clock jump over every pause of a transaction, and no further,
// until it is final or parked. It fails the test when that takes a minute of real time.
func (c *Clock) SkipPauses(t testing.TB, co Coordinator, id string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(skipPoll) {
		tx, err := co.Get(t.Context(), id)
		switch {
		case err != nil:
			t.Fatal(err)
		case tx.Status.Final() || tx.Parked != "":
			return
		case time.Now().After(end):
			t.Fatalf("transaction %s does not come to an end, it is %s", id, describeTransaction(tx))
		case tx.Owner == "": // it waits in the store
			c.Advance(max(tx.Due.Sub(c.Now()), 0))
		}
	}
}

// skipPoll is how often SkipPauses looks.
const skipPoll = time.Millisecond

// LockStore makes a store of locks that goes by this clock, for [memlock.New].
func (c *Clock) LockStore() *memlock.Store {
	store := memlock.NewStore(&memlock.StoreOptions{Now: c.Now})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.locks = append(c.locks, store)
	return store
}

// TxnStore makes a store of transactions that goes by this clock.
func (c *Clock) TxnStore() *memstore.Store {
	return memstore.New(&memstore.Options{Now: c.Now})
}
