package barrier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// CleanOptions says which marks may go. The zero value is the default.
type CleanOptions struct {
	// Age is how long ago a transaction must have ended, and its marks must have been
	// set: the longest time a message may linger in the network. Defaults to 24 h;
	// -1: no age is asked for.
	Age time.Duration
	// Unknown is the age of marks of transactions that the coordinator does not know
	// (any more). Defaults to Age, and in DTM's layout to -1: they are kept, as they
	// may be another coordinator's. Set it to -1 wherever several coordinators share
	// a table.
	Unknown time.Duration
	// Batch bounds the transactions looked at, and removed, by one statement.
	// Defaults to 200.
	Batch int
}

// withDefaults fills in what is not said.
func (l *layout) withDefaults(opts *CleanOptions) CleanOptions {
	o := CleanOptions{}
	if opts != nil {
		o = *opts
	}
	if o.Unknown == 0 && l.sharedTable {
		o.Unknown = -1
	}
	switch {
	case o.Age == 0:
		o.Age = 24 * time.Hour
	case o.Age < 0:
		o.Age = 0
	}
	if o.Unknown == 0 {
		o.Unknown = o.Age
	}
	if o.Batch <= 0 {
		o.Batch = 200
	}
	return o
}

// Clean removes the marks of transactions that have ended, by the coordinator's
// word, and says how many. Marks of a transaction that has not ended stay, however
// old they are. Call it now and then, from one place or from many:
//
//	for range time.Tick(time.Hour) {
//		removed, err := b.Clean(ctx, coordinator, nil)
//		…
//	}
func (b *Barrier) Clean(ctx context.Context, coordinator txn.Inspector, opts *CleanOptions) (removed int, err error) {
	c := &cleaner{b: b, coordinator: coordinator, opts: b.layout.withDefaults(opts)}
	var now int64
	if err := b.db.QueryRowContext(ctx, b.layout.clockQ).Scan(&now); err != nil {
		return 0, fmt.Errorf("barrier: clean: read clock: %w", err)
	}
	c.now = time.UnixMicro(now)
	last := old{}
	for {
		page, err := c.page(ctx, last)
		if err != nil || len(page) == 0 {
			return removed, err
		}
		n, err := c.sweep(ctx, page)
		removed += n
		if err != nil {
			return removed, err
		}
		last = page[len(page)-1]
	}
}

// cleaner is one run of Clean.
type cleaner struct {
	b           *Barrier
	coordinator txn.Inspector
	opts        CleanOptions
	now         time.Time // by the database's clock
}

// old is a transaction with a mark of this age.
type old struct {
	created     int64
	transaction string
}

// page lists transactions with old marks, after last.
func (c *cleaner) page(ctx context.Context, last old) ([]old, error) {
	cutoff := c.now.Add(-c.opts.Age).UnixMicro()
	rows, err := c.b.db.QueryContext(ctx, c.b.layout.oldQ, cutoff, last.created, last.created, last.transaction, c.opts.Batch)
	if err != nil {
		return nil, fmt.Errorf("barrier: clean: list: %w", err)
	}
	defer rows.Close()
	var page []old
	for rows.Next() {
		var o old
		if err := rows.Scan(&o.created, &o.transaction); err != nil {
			return nil, fmt.Errorf("barrier: clean: list: %w", err)
		}
		page = append(page, o)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("barrier: clean: list: %w", err)
	}
	return page, nil
}

// sweep removes what may go of a page.
func (c *cleaner) sweep(ctx context.Context, page []old) (int, error) {
	var ended, unknown []string
	asked := map[string]bool{}
	for _, o := range page {
		if asked[o.transaction] {
			continue
		}
		asked[o.transaction] = true
		t, err := c.coordinator.Get(ctx, o.transaction)
		switch {
		case errors.Is(err, txn.ErrNotFound):
			unknown = append(unknown, o.transaction)
		case err != nil:
			return 0, fmt.Errorf("barrier: clean: ask for transaction %q: %w", o.transaction, err)
		case t.Status.Final() && !t.Finished.After(c.now.Add(-c.opts.Age)):
			ended = append(ended, o.transaction)
		}
	}
	removed, err := c.remove(ctx, ended, c.opts.Age)
	if err != nil || c.opts.Unknown < 0 {
		return removed, err
	}
	n, err := c.remove(ctx, unknown, max(c.opts.Unknown, c.opts.Age))
	return removed + n, err
}

// remove deletes the marks of some transactions that are older than age. Younger
// ones were set by calls that came late, so there may be more of these.
func (c *cleaner) remove(ctx context.Context, transactions []string, age time.Duration) (int, error) {
	if len(transactions) == 0 {
		return 0, nil
	}
	args := []any{c.now.Add(-age).UnixMicro()}
	for _, id := range transactions {
		args = append(args, id)
	}
	list := "(" + strings.Join(slices.Repeat([]string{"?"}, len(transactions)), ", ") + ")"
	result, err := c.b.db.ExecContext(ctx, c.b.layout.dialect.place(c.b.layout.removeQ+list), args...)
	if err != nil {
		return 0, fmt.Errorf("barrier: clean: remove: %w", err)
	}
	n, err := result.RowsAffected()
	return int(n), err
}
