package coord

import (
	"context"
	"errors"

	"github.com/bedrock-go/bedrock/coord/internal/record"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// Submit makes a transaction durable and drives it. It asks a store that does not answer for as long
// as ctx lasts.
func (c *Coordinator) Submit(ctx context.Context, d txn.Definition) (string, error) {
	return c.create(ctx, d, false)
}

// Run submits a transaction and waits for its outcome.
func (c *Coordinator) Run(ctx context.Context, d txn.Definition) (txn.Result, error) {
	if d.ID == "" {
		d.ID = txn.NewID()
	}
	heard := c.news.listen(d.ID)
	defer c.news.unlisten(d.ID, heard)
	if _, err := c.create(ctx, d, false); err != nil {
		return notAccepted(d.ID, err), err
	}
	res, err := c.awaitOutcome(ctx, d.ID, heard, false)
	if errors.Is(err, driver.ErrNotFound) { // it was accepted: somebody has removed it since
		err = &txn.InDoubtError{ID: d.ID, Err: err}
	}
	return res, err
}

// notAccepted is the result of a submit that failed: nothing has happened, unless the store
// left that open.
func notAccepted(id string, err error) txn.Result {
	r := txn.Result{ID: id, Reason: err.Error()}
	if _, ok := errors.AsType[*txn.InDoubtError](err); ok {
		r.Outcome = txn.InDoubt
	}
	return r
}

// Begin makes a transaction durable that its caller completes.
func (c *Coordinator) Begin(ctx context.Context, d txn.Definition) (string, error) {
	return c.create(ctx, d, true)
}

// create checks a definition, writes it down, and starts to drive it unless it is
// open. A definition that was accepted before is found again.
func (c *Coordinator) create(ctx context.Context, d txn.Definition, begun bool) (id string, err error) {
	if err := c.checkRunning(ctx); err != nil {
		return "", err
	}
	t, rec, err := c.prepareRecord(ctx, c.checker, d, begun)
	if err != nil {
		return c.findSubmitted(ctx, &d, c.withFunctions(&d, err))
	}
	if err := c.checkFunctions(&d, 0); err != nil {
		return "", err
	}
	return c.acceptOnce(ctx, t, rec)
}

// acceptOnce enters a transaction, unless it was there before.
func (c *Coordinator) acceptOnce(ctx context.Context, t *txn.Transaction, rec *driver.Record) (id string, err error) {
	if err := c.writeAndDrive(ctx, t, rec); err != nil && !errors.Is(err, errAccepted) {
		return "", err
	}
	return rec.ID, nil
}

// writeAndDrive writes a transaction down and drives it, if it is to be driven and there is
// room.
func (c *Coordinator) writeAndDrive(ctx context.Context, t *txn.Transaction, rec *driver.Record) error {
	if t.Status == txn.Open {
		err := c.createAndTell(ctx, rec)
		if err == nil {
			c.recent.remember(rec)
		}
		return err
	}
	x := newRun(c, t, rec)
	other, ok := c.active.add(t.ID, x)
	switch {
	case other != nil: // the same ID is being submitted or driven right now
		return c.awaitOtherSubmit(ctx, other, t, rec)
	case !ok: // no room: whoever has some takes it up
		giveToAnyOwner(t, rec)
		defer c.Nudge()
		return c.createAndTell(ctx, rec)
	}
	defer x.dropUnlessStarted()
	if err := c.createAndTell(ctx, rec); err != nil {
		return err
	}
	x.start()
	return nil
}

// giveToAnyOwner leaves a new record to whoever claims it.
func giveToAnyOwner(t *txn.Transaction, rec *driver.Record) {
	rec.Owner, rec.Due, rec.State = "", rec.Created, record.EncodeState(t, true)
}

// awaitOtherSubmit waits until another submit of the same ID is through, and compares the
// two. If that one was given up, nobody knows what becomes of it, so this one finds out by
// its own write.
func (c *Coordinator) awaitOtherSubmit(ctx context.Context, other *run, t *txn.Transaction, rec *driver.Record) error {
	select {
	case <-other.begun:
	case <-ctx.Done(): // the other one may be accepted yet
		return &txn.InDoubtError{ID: rec.ID, Err: ctx.Err()}
	}
	err := c.compareStored(ctx, rec)
	if errors.Is(err, driver.ErrNotFound) {
		return c.writeAndDrive(ctx, t, rec)
	}
	return err
}
