package coord

import (
	"context"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// run drives one transaction: plan, call, enter the answers, write, again. All its
// fields belong to the goroutine of loop, except those that say otherwise.
type run struct {
	c   *Coordinator
	tx  *txn.Transaction
	rec *driver.Record // as the store has it

	flights []*flight
	answers chan answer
	phase   context.Context //nolint:containedctx // of calls made since the last decision
	halt    context.CancelFunc
	timer   *time.Timer
	written time.Time // store's clock
	dirty   bool

	fetched string // the target it was claimed for, if it was
	blamed  blame  // the target that holds the transaction up, if one does

	begun   chan struct{} // closed when the record is written, or will never be
	gone    chan struct{} // closed when the run is over
	leaving chan struct{} // closed when the run is to hand over
	once    sync.Once     // closes leaving; any goroutine
}

func newRun(c *Coordinator, t *txn.Transaction, rec *driver.Record) *run {
	return &run{
		c: c, tx: t, rec: rec, written: rec.Updated,
		begun: make(chan struct{}), gone: make(chan struct{}), leaving: make(chan struct{}),
	}
}

// start begins to drive a record that is in the store.
func (r *run) start() {
	close(r.begun)
	go r.loop()
}

// dropUnstarted gives up a run that was never started. Those who wait for it find its place
// free.
func (r *run) dropUnstarted() {
	r.c.active.remove(r.tx.ID)
	close(r.begun)
	close(r.gone)
}

// dropUnlessStarted gives up a run that was not started, also when a store panics and the caller
// survives: Stop waits for what is active, and so does whoever wants the transaction.
func (r *run) dropUnlessStarted() {
	select {
	case <-r.begun:
	default:
		r.dropUnstarted()
	}
}

// requestHandOver asks the run to hand the transaction over.
func (r *run) requestHandOver() { r.once.Do(func() { close(r.leaving) }) }

// loop drives the transaction until it is final, handed over or lost.
func (r *run) loop() {
	r.answers = make(chan answer)
	r.phase, r.halt = context.WithCancel(r.c.calls)
	r.timer = time.NewTimer(saveProgress) // set anew before each wait
	defer r.endRun()
	for {
		after := r.carryOutPlan()
		if after == thenEnd || after == thenWait && !r.waitForEvent() {
			return
		}
	}
}
