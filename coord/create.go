package coord

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// openTimeout ends transactions that were begun, name no deadline, and have
// nobody who could be asked.
const openTimeout = 10 * time.Minute

// Submit makes a transaction durable and drives it.
func (c *Coordinator) Submit(ctx context.Context, d txn.Definition) (string, error) {
	return c.create(ctx, d, false)
}

// Run submits a transaction and waits for its outcome.
func (c *Coordinator) Run(ctx context.Context, d txn.Definition) (txn.Result, error) {
	if d.ID == "" {
		d.ID = NewID()
	}
	heard := c.news.listen(d.ID)
	defer c.news.leave(d.ID, heard)
	if _, err := c.create(ctx, d, false); err != nil {
		return notAccepted(d.ID, err), err
	}
	res, err := c.await(ctx, d.ID, heard, false)
	if errors.Is(err, driver.ErrNotFound) { // it was accepted: somebody has removed it since
		err = &txn.InDoubtError{ID: d.ID, Err: err}
	}
	return res, err
}

// notAccepted is the result of a submit that failed: nothing has happened, unless
// the store never said so.
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
	if err := c.ready(); err != nil {
		return "", err
	}
	t, rec, err := c.prepare(ctx, d, begun)
	if err != nil {
		return c.sentBefore(ctx, &d, err)
	}
	if err := c.registered(&d, 0); err != nil {
		return "", err
	}
	return c.accept(ctx, t, rec)
}

// accept enters a transaction, and tells of it unless it was there before.
func (c *Coordinator) accept(ctx context.Context, t *txn.Transaction, rec *driver.Record) (id string, err error) {
	err = c.enter(ctx, t, rec)
	switch {
	case err == nil:
		c.opts.Observer.Observe(Event{Kind: Submitted, ID: rec.ID, Mode: rec.Mode, Name: rec.Name})
	case !errors.Is(err, errAccepted):
		return "", err
	}
	return rec.ID, nil
}

// enter writes a transaction down and drives it, if it is to be driven and there is
// room.
func (c *Coordinator) enter(ctx context.Context, t *txn.Transaction, rec *driver.Record) error {
	if t.Status == txn.Open {
		err := c.write(ctx, rec)
		if err == nil {
			c.recent.keep(rec)
		}
		return err
	}
	x := newRun(c, t, rec)
	other, ok := c.active.add(t.ID, x)
	switch {
	case other != nil: // the same ID is being submitted or driven right now
		return c.acceptedBeside(ctx, other, t, rec)
	case !ok: // no room: whoever has some takes it up
		disown(t, rec)
		defer c.Nudge()
		return c.write(ctx, rec)
	}
	if err := c.write(ctx, rec); err != nil {
		x.drop()
		return err
	}
	x.start()
	return nil
}

// disown leaves a new record to whoever claims it.
func disown(t *txn.Transaction, rec *driver.Record) {
	rec.Owner, rec.Due, rec.State = "", rec.Created, encodeState(t, true)
}

// acceptedBeside waits until the other submit is through, and compares. Where that
// one was given up nobody knows what becomes of it, so this one finds out by its own
// write.
func (c *Coordinator) acceptedBeside(ctx context.Context, other *run, t *txn.Transaction, rec *driver.Record) error {
	select {
	case <-other.begun:
	case <-ctx.Done(): // the other one may be accepted yet
		return &txn.InDoubtError{ID: rec.ID, Err: ctx.Err()}
	}
	err := c.accepted(ctx, rec)
	if errors.Is(err, driver.ErrNotFound) {
		return c.enter(ctx, t, rec)
	}
	return err
}

// prepare turns a definition into a record that this coordinator owns. The definition
// is a copy: it is carried out after its caller has got its memory back.
func (c *Coordinator) prepare(ctx context.Context, d txn.Definition, begun bool) (*txn.Transaction, *driver.Record, error) {
	d = d.Clone()
	if d.ID == "" {
		d.ID = NewID()
	}
	spec, digest, err := encodeSpec(&d) // as it was asked for: subscribers and traces change
	if err != nil {
		return nil, nil, err
	}
	expanded, err := c.expand(ctx, &d)
	if err != nil {
		return nil, nil, err
	}
	timeout := d.Timeout
	status, err := c.check(&d, begun)
	if err != nil {
		return nil, nil, err
	}
	traced := c.trace(ctx, &d)
	if expanded || traced || d.Timeout != timeout {
		if spec, _, err = encodeSpec(&d); err != nil {
			return nil, nil, err
		}
	}
	t := c.fresh(d, status)
	return t, record(t, spec, digest), nil
}

// trace adds the headers by which later calls find their trace. The definition's own
// come first. It tells whether there were any.
func (c *Coordinator) trace(ctx context.Context, d *txn.Definition) bool {
	found := c.opts.Tracing.Submit(ctx, d)
	if found == nil {
		return false
	}
	headers := maps.Clone(found)
	maps.Copy(headers, d.Headers)
	d.Headers = headers
	return true
}

// check refuses a definition before anything happens.
func (c *Coordinator) check(d *txn.Definition, begun bool) (txn.Status, error) {
	mode, ok := c.modes[d.Mode]
	if !ok {
		return "", &txn.FieldError{Field: "mode", Problem: fmt.Sprintf("%q is not known", d.Mode)}
	}
	if err := c.checker.Definition(d); err != nil {
		return "", err
	}
	if err := mode.Check(d); err != nil {
		return "", err
	}
	status, err := start(mode, d, begun)
	if err != nil {
		return "", err
	}
	if status == txn.Open && d.Timeout == 0 && d.Check == nil {
		d.Timeout = openTimeout
	}
	return status, eachTarget(d, 0, c.checkTarget)
}

// start is the status a transaction begins in, if its mode has such a beginning.
func start(mode txn.Mode, d *txn.Definition, begun bool) (txn.Status, error) {
	status, ok := mode.Start(begun)
	switch {
	case !ok && begun:
		return "", &txn.FieldError{Field: "mode", Problem: d.Mode + " cannot be begun and completed later; submit it"}
	case !ok:
		return "", &txn.FieldError{Field: "mode", Problem: d.Mode + " cannot be submitted; begin it"}
	case status == txn.Running && len(d.Branches) == 0:
		return "", &txn.FieldError{Field: "branches", Problem: "there are none"}
	case status != txn.Open:
		return status, nil
	}
	if i := slices.IndexFunc(d.Branches, func(b txn.Branch) bool { return b.Do != "" }); i >= 0 {
		return "", &txn.FieldError{
			Field:   fmt.Sprintf("branches[%d].do", i),
			Problem: "is never called: what goes forward in a transaction that was begun is its caller's to do",
		}
	}
	return status, nil
}

// fresh is a transaction that has just been accepted.
func (c *Coordinator) fresh(d txn.Definition, status txn.Status) *txn.Transaction {
	now := c.clock.now()
	t := &txn.Transaction{
		Definition: d, Status: status, Created: now, Updated: now,
		Progress: make([]txn.Progress, len(d.Branches)),
		Owner:    c.owner, Epoch: 1, Revision: 1,
	}
	if d.Timeout > 0 && status != txn.Committing {
		t.Deadline = now.Add(d.Timeout)
	}
	if status.Decided() {
		t.Decided = now
	}
	t.Due = now.Add(c.opts.Lease)
	if status == txn.Open {
		t.Due = c.nextLook(t, now)
	}
	return t
}

func record(t *txn.Transaction, spec []byte, digest string) *driver.Record {
	return &driver.Record{
		ID: t.ID, Mode: t.Mode, Name: t.Name, Digest: digest, Status: t.Status,
		Owner: t.Owner, Epoch: 1, Revision: 1, Due: t.Due, Deadline: t.Deadline,
		Created: t.Created, Updated: t.Updated, Spec: spec, State: encodeState(t, t.Status == txn.Open),
	}
}

// write creates the record, as often as it takes to know that it is there.
func (c *Coordinator) write(ctx context.Context, rec *driver.Record) error {
	for wait := firstWait; ; wait = longer(wait) {
		err := c.createOnce(ctx, rec)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, driver.ErrExists):
			return c.accepted(ctx, rec)
		case errors.Is(err, driver.ErrRefused):
			return &txn.FieldError{Field: "definition", Problem: err.Error()}
		case ctx.Err() != nil:
			return &txn.InDoubtError{ID: rec.ID, Err: err}
		}
		if !sleep(ctx, c.life, wait) {
			return &txn.InDoubtError{ID: rec.ID, Err: err}
		}
	}
}

func (c *Coordinator) createOnce(ctx context.Context, rec *driver.Record) error {
	bounded, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return c.trouble.saw(ctx, toWrite, c.store.Create(bounded, rec))
}

// accepted compares a new record with the one that has its ID. Where that cannot be
// read it may be this very one, accepted and about to be driven by others.
func (c *Coordinator) accepted(ctx context.Context, rec *driver.Record) error {
	stored, err := c.load(ctx, rec.ID)
	switch {
	case err != nil:
		return &txn.InDoubtError{ID: rec.ID, Err: err}
	case stored.Digest != rec.Digest || stored.Mode != rec.Mode:
		return fmt.Errorf("submit %s: %w", rec.ID, txn.ErrExists)
	case stored.Owner == rec.Owner && stored.Epoch == 1 && stored.Revision == 1 && stored.Created.Equal(rec.Created):
		return nil // our own write, whose acknowledgement was lost
	default:
		return errAccepted
	}
}

// errAccepted says that the same content was submitted before.
var errAccepted = errors.New("submitted before")
