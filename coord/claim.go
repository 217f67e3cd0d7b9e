package coord

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// claimBatch is how many records one claim asks for.
const claimBatch = 256

// recover takes over what is due, for as long as the coordinator lives: left behind
// by others, or put back to wait.
func (c *Coordinator) recover() {
	for {
		more := c.sweep()
		c.inherited.tell(c.owner)
		if !more && !c.rest() || c.life.Err() != nil {
			return
		}
	}
}

// rest waits until it is time to look again; false when the coordinator stops.
func (c *Coordinator) rest() bool {
	t := time.NewTimer(c.jitter(c.opts.Poll))
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.wake:
	case <-c.life.Done():
	}
	return c.life.Err() == nil
}

// sweep claims what is due. One claim looks at everything; while that comes back
// full there is a backlog, and several claims work on parts of it side by side. It
// tells whether there may be more.
func (c *Coordinator) sweep() bool {
	if _, full, _ := c.claim(driver.Claim{Limit: claimBatch}); !full {
		return false
	}
	full := make(chan bool, c.opts.Claimers)
	for i := range c.opts.Claimers {
		go func() {
			from, to := i*driver.Shards/c.opts.Claimers, (i+1)*driver.Shards/c.opts.Claimers
			_, more, _ := c.claim(driver.Claim{Limit: claimBatch, From: from, To: to})
			full <- more
		}()
	}
	more := false
	for range c.opts.Claimers {
		more = <-full || more
	}
	return more
}

// errNoRoom says that as many transactions are driven as may be.
var errNoRoom = errors.New("no room")

// claim takes records over and drives them. It returns how many there were, and
// whether there may be more. An error has been logged.
func (c *Coordinator) claim(q driver.Claim) (n int, full bool, err error) {
	q.Owner, q.Lease = c.owner, c.opts.Lease
	q.Limit = min(q.Limit, c.active.room())
	if q.Limit <= 0 || c.life.Err() != nil {
		return 0, false, errNoRoom
	}
	ctx, cancel := c.claiming()
	defer cancel()
	asked := time.Now()
	claimed, err := c.store.Claim(ctx, q)
	if c.trouble.saw(c.life, toClaim, err) != nil {
		return 0, false, err
	}
	c.clock.set(claimed.Now, asked)
	for _, rec := range claimed.Records {
		c.adopt(rec, q.Target)
	}
	if n = len(claimed.Records); n > 0 {
		c.trouble.works(toWrite) // that it is ours now
		c.opts.Observer.Observe(Event{Kind: Claimed, Count: n})
	}
	return n, n == q.Limit, nil
}

// claiming bounds a claim. One that is under way when the coordinator stops has a while
// yet to be answered, so that what it is given is put back: nobody else has that before
// the lease is over.
func (c *Coordinator) claiming() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(c.calls, storeTimeout)
	stay := context.AfterFunc(c.life, func() { time.AfterFunc(grace, cancel) })
	return ctx, func() { stay(); cancel() }
}

// adopt drives a claimed record.
func (c *Coordinator) adopt(rec *driver.Record, target string) {
	t, complete, err := decode(rec)
	if err != nil || c.modes[rec.Mode] == nil {
		c.refuse(rec, err)
		return
	}
	inherited := complete != rec.Epoch-1 // whoever hands over in good order leaves it complete
	if inherited {
		doubt(t)
	}
	if target != "" {
		hurry(t, target, c.clock.now())
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

// hurry lets calls to a target be made now that it is worth a try: those that a
// breaker has held back, whose turn it was, and early those whose pause is not over.
// One whose participant has asked for time is left alone.
func hurry(t *txn.Transaction, target string, now time.Time) {
	for _, s := range steps(t) {
		if name, _ := laneOf(t.Target(s)); name == target {
			plan.Hurry(t.Op(s), now)
		}
	}
}

// refuse leaves a record alone that this coordinator cannot drive: parked if it is
// damaged; for others to try if its mode is not known here, as when versions are
// mixed.
func (c *Coordinator) refuse(rec *driver.Record, err error) {
	if err == nil {
		c.opts.Logger.Warn("mode is not known to this coordinator", "id", rec.ID, "mode", rec.Mode)
		c.release(rec, holdBack)
		return
	}
	c.opts.Logger.Error("transaction cannot be read", "id", rec.ID, "err", err)
	was := rec.Version()
	rec.Parked, rec.Due, rec.Owner, rec.Spec = "cannot be read: "+excerpt(err.Error()), time.Time{}, "", nil
	if err := c.update(was, rec); err != nil {
		c.opts.Logger.Error("transaction cannot be parked", "id", rec.ID, "err", err)
	}
}

// release puts a claimed record back as it is.
func (c *Coordinator) release(rec *driver.Record, after time.Duration) {
	was := rec.Version()
	rec.Owner, rec.Due, rec.Spec, rec.State = "", c.clock.now().Add(after), nil, handOn(rec.State, rec.Epoch)
	if err := c.update(was, rec); err != nil {
		c.opts.Logger.Warn("transaction is not put back; its lease will run out", "id", rec.ID, "err", err)
	}
}
