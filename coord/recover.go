package coord

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// claimBatch is how many records one claim asks for.
const claimBatch = 256

// recoverDue takes over what is due, for as long as the coordinator lives: left behind
// by others, or put back to wait.
func (c *Coordinator) recoverDue() {
	for {
		more := c.claimAllDue()
		c.inherited.logInherited(c.owner)
		if !more && !c.waitForPoll() || c.life.Err() != nil {
			return
		}
	}
}

// Nudge looks for due transactions now instead of at the next poll, for instance
// for one that SubmitTx has created, once that is committed.
func (c *Coordinator) Nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// waitForPoll waits until it is time to look again. It reports whether the coordinator goes
// on.
func (c *Coordinator) waitForPoll() bool {
	t := time.NewTimer(c.jitter(c.opts.Poll))
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.wake:
	case <-c.life.Done():
	}
	return c.life.Err() == nil
}

// claimAllDue claims what is due. One claim looks at everything; while that comes back
// full there is a backlog, and several claims work on parts of it side by side. It
// reports whether there may be more.
func (c *Coordinator) claimAllDue() bool {
	if _, full, _ := c.claimSome(driver.Claim{Limit: claimBatch}); !full {
		return false
	}
	full := make(chan bool, c.opts.Claimers)
	for i := range c.opts.Claimers {
		go func() {
			from, to := i*driver.Shards/c.opts.Claimers, (i+1)*driver.Shards/c.opts.Claimers
			_, more, _ := c.claimSome(driver.Claim{Limit: claimBatch, From: from, To: to})
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

// claimSome takes records over and drives them. It returns how many there were, and
// whether there may be more. An error has been logged.
func (c *Coordinator) claimSome(q driver.Claim) (n int, full bool, err error) {
	q.Owner, q.Lease = c.owner, c.opts.Lease
	q.Limit = min(q.Limit, c.active.room())
	if q.Limit <= 0 || c.life.Err() != nil {
		return 0, false, errNoRoom
	}
	ctx, cancel := c.claimContext()
	defer cancel()
	asked := time.Now()
	claimed, err := c.store.Claim(ctx, q)
	if c.trouble.noteResult(c.life, toClaim, err) != nil {
		return 0, false, err
	}
	c.clock.adjust(claimed.Now, asked)
	for _, rec := range claimed.Records {
		c.adoptRecord(rec, q.Target)
	}
	if n = len(claimed.Records); n > 0 {
		c.trouble.noteSuccess(toWrite) // a claim writes who has the records now
		c.observe(Event{Kind: EventClaimed, Count: n})
	}
	return n, n == q.Limit, nil
}

// claimContext bounds a claim. A claim that is under way when the coordinator stops has a
// while yet to be answered, so that the records it brings can be put back: nobody else
// could have them before the lease is over.
func (c *Coordinator) claimContext() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(c.calls, storeTimeout)
	stay := context.AfterFunc(c.life, func() { time.AfterFunc(grace, cancel) })
	return ctx, func() { stay(); cancel() }
}
