package coord

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/bedrock-go/bedrock/coord/internal/record"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/modes"
)

// Get returns one transaction as the store has it.
func (c *Coordinator) Get(ctx context.Context, id string) (*txn.Transaction, error) {
	if err := cmp.Or(checkContext(ctx), c.checker.ID(id)); err != nil {
		return nil, err
	}
	rec, err := c.store.Load(ctx, id)
	if errors.Is(err, driver.ErrNotFound) {
		return nil, orUnknown(id, err)
	}
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", id, err)
	}
	t, _, err := record.Decode(rec)
	return t, err
}

// List returns transactions, newest first, and of each what the store has in columns: Get has
// the rest, as the reason of one that was rolled back.
func (c *Coordinator) List(ctx context.Context, q txn.Query) (txn.Page, error) {
	if err := checkContext(ctx); err != nil {
		return txn.Page{}, err
	}
	query, err := c.query(q)
	if err != nil {
		return txn.Page{}, err
	}
	size := query.Limit
	query.Limit++ // one more tells whether there is another page
	records, err := c.store.List(ctx, query)
	if err != nil {
		return txn.Page{}, fmt.Errorf("list transactions: %w", err)
	}
	var page txn.Page
	for i, rec := range records {
		if i == size {
			page.Next = records[i-1].Cursor()
			break
		}
		page.Transactions = append(page.Transactions, record.Head(rec))
	}
	return page, nil
}

// query translates a query; topics are records too, and never shown.
func (c *Coordinator) query(q txn.Query) (driver.Query, error) {
	limit, err := txn.PageSize(q.Limit)
	if err != nil {
		return driver.Query{}, err
	}
	if q.Mode != "" && c.modes[q.Mode] == nil {
		return driver.Query{}, modes.Unknown(q.Mode)
	}
	if err := cmp.Or(check.Statuses(q.Status), c.checkSearch(q)); err != nil {
		return driver.Query{}, err
	}
	d := driver.Query{
		Status: q.Status, Name: q.Name, Prefix: q.Prefix, Parked: q.Parked,
		FinishedBefore: q.FinishedBefore, Before: q.Before, Limit: limit, Brief: true,
	}
	if q.Mode != "" {
		d.Modes = []string{q.Mode}
		return d, nil
	}
	d.Modes = modes.Names()
	return d, nil
}

// checkSearch refuses texts that no ID and no name can contain, because not every database
// takes them, even in a query.
func (c *Coordinator) checkSearch(q txn.Query) error {
	return cmp.Or(c.checker.Name("name", q.Name), c.checker.Name("prefix", q.Prefix),
		c.checker.Name("before", q.Before.ID))
}
