package coord

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// ErrNoTx says that the store cannot take part in an SQL transaction.
var ErrNoTx = errors.New("the store is no SQL database")

// SubmitTx submits a transaction inside the caller's own SQL transaction on the
// store's database: it is driven if, and only if, that commits. It is taken up by
// the next poll; call Nudge after the commit for at once.
//
// Unlike Submit it cannot be repeated: the error matches [driver.ErrExists] when the ID is
// taken, by the same content as well, because then what else the SQL transaction has
// written would be committed a second time. That transaction stays usable.
func (c *Coordinator) SubmitTx(ctx context.Context, tx *sql.Tx, d txn.Definition) (id string, err error) {
	if err := c.ready(); err != nil {
		return "", err
	}
	creator, ok := c.store.(driver.TxCreator)
	if !ok {
		return "", ErrNoTx
	}
	t, rec, err := c.prepare(ctx, d, false)
	if err != nil {
		return "", err
	}
	if err := c.registered(&d, 0); err != nil {
		return "", err
	}
	disown(t, rec)
	if err := creator.CreateTx(ctx, tx, rec); err != nil {
		return "", fmt.Errorf("submit %s: %w", rec.ID, err)
	}
	c.opts.Observer.Observe(Event{Kind: Submitted, ID: rec.ID, Mode: rec.Mode, Name: rec.Name})
	return rec.ID, nil
}
