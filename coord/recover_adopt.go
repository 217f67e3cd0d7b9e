package coord

import (
	"time"

	"github.com/bedrock-go/bedrock/coord/internal/lanes"
	"github.com/bedrock-go/bedrock/coord/internal/record"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// adoptRecord drives a claimed record. The target is that for which it was claimed, if
// there is one.
func (c *Coordinator) adoptRecord(rec *driver.Record, target string) {
	t, complete, err := record.Decode(rec)
	if err != nil || c.modes[rec.Mode] == nil {
		c.setAside(rec, err)
		return
	}
	inherited := complete != rec.Epoch-1 // whoever hands over in good order leaves it complete
	if inherited {
		markUnsure(t)
	}
	if target != "" {
		hurryCalls(t, target, c.clock.now())
	}
	t.Waits = ""
	x := newRun(c, t, rec)
	x.fetched = target
	if _, ok := c.active.add(rec.ID, x); !ok {
		c.work.Go(func() { c.release(rec, 0) }) // side by side: Stop waits for all that a claim has brought
		return
	}
	if inherited {
		c.inherited.count.Add(1)
	}
	x.start()
}

// hurryCalls lets calls to a target be made now, because it is worth a try: those that the
// breaker has held back, and early those whose pause is not over. A call whose participant
// has asked for time is left alone.
func hurryCalls(t *txn.Transaction, target string, now time.Time) {
	for _, s := range t.Steps() {
		if name, _ := lanes.NameOf(t.Target(s)); name == target {
			plan.Hurry(t.Op(s), now)
		}
	}
}

// setAside deals with a record that this coordinator cannot drive. A damaged one is parked;
// one whose mode is not known here, as when versions are mixed, is put back for others to
// try.
func (c *Coordinator) setAside(rec *driver.Record, err error) {
	if err == nil {
		c.opts.Logger.Warn("mode is not known to this coordinator", "id", rec.ID, "mode", rec.Mode)
		c.release(rec, lanes.HoldBack)
		return
	}
	c.opts.Logger.Error("transaction cannot be read", "id", rec.ID, "err", err)
	was := rec.Version()
	rec.Parked, rec.Due, rec.Owner, rec.Spec = "cannot be read: "+excerpt(err.Error()), time.Time{}, "", nil
	if err := c.update(c.calls, was, rec); err != nil {
		c.opts.Logger.Error("transaction cannot be parked", "id", rec.ID, "err", err)
	}
}

// release puts a claimed record back as it is.
func (c *Coordinator) release(rec *driver.Record, after time.Duration) {
	was := rec.Version()
	rec.Owner, rec.Due, rec.Spec, rec.State = "", c.clock.now().Add(after), nil, record.HandOn(rec.State, rec.Epoch)
	if err := c.update(c.calls, was, rec); err != nil {
		c.opts.Logger.Warn("transaction is not put back; its lease will run out", "id", rec.ID, "err", err)
	}
}

// markUnsure marks what a crashed owner may have called without entering it.
func markUnsure(t *txn.Transaction) {
	if t.Status != txn.Running {
		return
	}
	for i := range t.Progress {
		if op := &t.Progress[i].Do; op.State == txn.Idle && t.Branches[i].Do != "" {
			op.State = txn.Unsure
		}
	}
}
