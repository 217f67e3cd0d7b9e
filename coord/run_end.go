package coord

import (
	"time"

	"github.com/bedrock-go/bedrock/coord/internal/lanes"
)

// evictPause is how long a transaction that was handed over for an intervention cannot be
// claimed, because the intervention is about to take it over itself.
const evictPause = time.Second

// handOver puts the transaction back until something is due. With a zero time there is
// nothing to wait for; it is looked at again after a while, to be safe.
func (r *run) handOver(due time.Time) {
	if due.IsZero() {
		due = r.c.clock.now().Add(lanes.HoldBack)
	}
	r.tx.Due = due
	r.tx.Waits = r.blamed.waits(r.fetched)
	if r.save(true) && r.tx.Waits != "" && r.blamed.hasRecovered() {
		// It has recovered while this was being written, too early for the drain to see.
		r.c.drains.Add(r.tx.Waits)
	}
}

// breakOffAndHandOver breaks off all calls, and hands over what is known, to be claimed after a
// pause.
func (r *run) breakOffAndHandOver(pause time.Duration) {
	r.halt()
	patience := time.NewTimer(grace)
	defer patience.Stop()
	for len(r.flights) > 0 {
		select {
		case a := <-r.answers:
			r.enterAnswer(a)
		case <-patience.C:
			r.giveUpAll()
		}
	}
	r.tx.Due = r.c.clock.now().Add(pause)
	r.save(true)
}

// endRun makes room for another transaction.
func (r *run) endRun() {
	r.halt()
	r.abandonCalls()
	r.timer.Stop()
	close(r.gone)
	full := r.c.active.room() == 0
	r.c.active.remove(r.tx.ID)
	if full {
		r.c.Nudge() // claims may have stopped for want of room
	}
}
