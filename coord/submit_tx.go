package coord

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// ErrNoTx says that the store cannot take part in an SQL transaction.
var ErrNoTx = errors.New("the store is no SQL database")

// SubmitTx submits a transaction inside the caller's own SQL transaction on the store's
// database: it is driven if, and only if, that commits. The next poll takes it up; call
// Nudge after the commit to have it taken up at once.
//
// Unlike Submit it cannot be repeated. The error matches [driver.ErrExists] when the ID is
// taken, even by the same content: were it accepted, what else the SQL transaction has
// written would be committed a second time. The SQL transaction stays usable.
func (c *Coordinator) SubmitTx(ctx context.Context, tx *sql.Tx, d txn.Definition) (id string, err error) {
	if err := c.checkRunning(ctx); err != nil {
		return "", err
	}
	creator, ok := c.store.(driver.TxCreator)
	if !ok {
		return "", ErrNoTx
	}
	if tx == nil {
		return "", &input.Error{Field: "tx", Problem: "is nil"}
	}
	t, rec, err := c.prepareRecord(ctx, c.checker, d, false)
	if err != nil {
		return "", c.withFunctions(&d, err)
	}
	if err := c.checkFunctions(&d, 0); err != nil {
		return "", err
	}
	giveToAnyOwner(t, rec)
	if err := creator.CreateTx(ctx, tx, rec); err != nil {
		return "", fmt.Errorf("submit %s: %w", rec.ID, err)
	}
	c.tellSubmitted(ctx, rec)
	return rec.ID, nil
}
