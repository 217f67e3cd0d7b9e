package coord

import (
	"context"
	"maps"
	"time"

	"github.com/bedrock-go/bedrock/coord/internal/record"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// openTimeout ends transactions that were begun without a deadline, and without a check by
// which somebody could be asked.
const openTimeout = 10 * time.Minute

// prepareRecord turns a definition into a record that this coordinator owns. It copies the
// definition, which is carried out after its caller has got its memory back.
func (c *Coordinator) prepareRecord(
	ctx context.Context, checker *check.Checker, d txn.Definition, begun bool,
) (*txn.Transaction, *driver.Record, error) {
	if err := checker.Number(&d); err != nil {
		return nil, nil, err
	}
	d = d.Clone()
	if d.ID == "" {
		d.ID = txn.NewID()
	}
	spec, digest, err := record.EncodeSpec(&d) // as it was asked for: subscribers and traces change
	if err != nil {
		return nil, nil, err
	}
	given, err := c.expandTopics(ctx, &d)
	if err != nil {
		return nil, nil, err
	}
	timeout := d.Timeout
	status, err := c.check(checker, &d, begun)
	if err != nil {
		return nil, nil, asGiven(err, given)
	}
	traced := c.addTraceHeaders(ctx, &d)
	if given != nil || traced || d.Timeout != timeout {
		if spec, _, err = record.EncodeSpec(&d); err != nil {
			return nil, nil, err
		}
	}
	t := c.newTransaction(d, status)
	return t, record.New(t, spec, digest), nil
}

// addTraceHeaders adds the headers by which later calls find their trace. The definition's
// own win. It reports whether there were any.
func (c *Coordinator) addTraceHeaders(ctx context.Context, d *txn.Definition) bool {
	found := c.submitHeaders(ctx, d)
	if found == nil {
		return false
	}
	headers := maps.Clone(found)
	maps.Copy(headers, d.Headers)
	d.Headers = headers
	return true
}

// newTransaction is a transaction that has just been accepted.
func (c *Coordinator) newTransaction(d txn.Definition, status txn.Status) *txn.Transaction {
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
		t.Due = c.nextDue(t, now)
	}
	return t
}
