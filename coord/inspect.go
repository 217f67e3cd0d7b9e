package coord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/bedrock-go/bedrock/internal/nearest"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// Get returns one transaction as the store has it.
func (c *Coordinator) Get(ctx context.Context, id string) (*txn.Transaction, error) {
	if err := c.checker.ID(id); err != nil {
		return nil, err
	}
	rec, err := c.store.Load(ctx, id)
	if errors.Is(err, driver.ErrNotFound) {
		return nil, known(id, err)
	}
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", id, err)
	}
	t, _, err := decode(rec)
	return t, err
}

// List returns transactions, newest first.
func (c *Coordinator) List(ctx context.Context, q txn.Query) (txn.Page, error) {
	query, err := c.query(q)
	if err != nil {
		return txn.Page{}, err
	}
	records, err := c.store.List(ctx, query)
	if err != nil {
		return txn.Page{}, fmt.Errorf("list transactions: %w", err)
	}
	var page txn.Page
	for _, rec := range records {
		page.Transactions = append(page.Transactions, head(rec))
	}
	if len(records) == query.Limit {
		page.Next = records[len(records)-1].Cursor()
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
		return driver.Query{}, &txn.FieldError{Field: "mode", Problem: fmt.Sprintf("%.40q is not known%s: want one of %s",
			q.Mode, nearest.Hint(q.Mode, c.modeNames()), strings.Join(c.modeNames(), ", "))}
	}
	if err := c.searchable(q); err != nil {
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
	for name := range c.modes {
		d.Modes = append(d.Modes, name)
	}
	slices.Sort(d.Modes)
	return d, nil
}

// searchable refuses words that no ID and no name is made of. Not every database takes
// them, in a question neither.
func (c *Coordinator) searchable(q txn.Query) error {
	return cmp.Or(c.checker.Name("name", q.Name), c.checker.Name("prefix", q.Prefix), c.checker.Name("before", q.Before.ID))
}

// modeNames lists the modes for people.
func (c *Coordinator) modeNames() []string { return slices.Sorted(maps.Keys(c.modes)) }

// Watch yields a transaction now and after changes until it is final. All watchers of
// a transaction share what is read of it; each is given a copy. Whoever is slow sees
// the newest next, and not what came between.
func (c *Coordinator) Watch(ctx context.Context, id string) iter.Seq2[*txn.Transaction, error] {
	return func(yield func(*txn.Transaction, error) bool) {
		v, err := c.join(id)
		if err != nil {
			yield(nil, err)
			return
		}
		defer c.views.leave(v)
		t, err := c.Get(ctx, id) // what was read for others may be old
		for err == nil {
			seen, final := versionOf(t), t.Status.Final()
			if !yield(t, nil) || final {
				return
			}
			t, err = v.after(ctx, seen)
		}
		yield(nil, err)
	}
}
