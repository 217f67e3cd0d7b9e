package locktest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/bedrock-go/bedrock/lock"
)

// history records what contenders for one name did. Its clock only counts: two
// moments are never equal, and the order is that of the events.
type history struct {
	clock atomic.Int64

	mu         sync.Mutex
	operations []porcupine.Operation
	grants     int
	believer   *believer
	believers  []string // holders who believed at the same time
}

// action is one operation on the lock.
type action struct {
	unlock bool
	owner  string
}

// outcome is what it came to.
type outcome struct {
	unknown bool // it may have happened or not, or may happen later
	token   uint64
}

// believer is a holder who has reason to believe that it has the lock.
type believer struct {
	lease   *lock.Lease
	leaving atomic.Bool
}

func (h *history) now() int64 { return h.clock.Add(1) }

// add records an operation. One with an unknown outcome never ends.
func (h *history) add(client int, call int64, a action, o outcome) {
	returned := h.now()
	if o.unknown {
		returned = 1<<62 + returned
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.operations = append(h.operations, porcupine.Operation{
		ClientId: client, Input: a, Call: call, Output: o, Return: returned,
	})
}

// believe records that a lease was granted. Whoever had the lock before must
// have had no reason to believe in it at this moment.
func (h *history) believe(l *lock.Lease) *believer {
	now := &believer{lease: l}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.grants++
	before := h.believer
	h.believer = now
	if before != nil && !before.leaving.Load() && before.lease.Context().Err() == nil {
		h.believers = append(h.believers, before.lease.Owner()+" and "+l.Owner())
	}
	return now
}

func (h *history) countGrants() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.grants
}

// check fails the test if two believed at once, or if no order of the
// operations explains them as those of one lock with rising tokens.
func (h *history) check(t testing.TB, mayForget bool) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.believers) > 0 && !mayForget {
		t.Errorf("%d times two holders believed in the lock at once, the first: %s", len(h.believers), h.believers[0])
	}
	model := lockModel(mayForget)
	if result := porcupine.CheckOperationsTimeout(model, h.operations, time.Minute); result != porcupine.Ok {
		t.Errorf("%d operations with %d grants are not those of one lock: %s", len(h.operations), h.grants, result)
	}
}
