package coord

import (
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/coord/internal/lanes"
	"github.com/bedrock-go/bedrock/txn"
)

// grace is how much longer than its time-out a call may take before its driver
// stops waiting. Only a function that ignores its context needs it.
const grace = time.Second

// flight is a call under way, or one that waits for its slot.
type flight struct {
	step   txn.Step
	target txn.Target
	call   txn.Call
	life   time.Time   // when the transaction was created
	lane   *lanes.Lane // nil when there is nothing to call
	limit  time.Duration

	// began is when the participant was called, in µs of the store's clock; 0 before.
	// Waiting for a slot is nobody's failure: the call's time runs from here.
	began    atomic.Int64
	lacking  error          // why it cannot be made here
	standing lanes.Standing // the breaker's when it was about to be made
	pass     lanes.Pass     // the breaker's leave
	slots    bool           // a probe has none: all may be taken by calls that hang
	// over is set by the first to tell the lane how the call went: the call when it ends,
	// or the run when it no longer waits for that.
	over atomic.Bool
}

// deadline is when the driver stops waiting. A call that has not begun has as long as if it
// began now.
func (f *flight) deadline(now time.Time) time.Time {
	if began := f.began.Load(); began != 0 {
		now = fromMicro(began)
	}
	return now.Add(f.limit + grace)
}

// endFlight gives the slots of a flight back and tells its breaker how it went, once.
func (c *Coordinator) endFlight(f *flight, found lanes.Finding) {
	if !f.over.CompareAndSwap(false, true) {
		return
	}
	if f.slots {
		f.lane.Release()
	}
	c.lanes.ReportCall(f.lane, f.pass, found)
}
