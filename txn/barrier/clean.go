package barrier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
)

// CleanOptions says which marks may go. The zero value is the default.
type CleanOptions struct {
	// Age is how long ago a transaction must have ended, and its marks must have been
	// set: the longest time a message may linger in the network. Defaults to 24 h, at
	// least 1 ms; -1: no age is asked for.
	Age time.Duration
	// Unknown is the age at which the marks of a transaction go that the coordinator
	// does not know (any more); not less than Age. Defaults to Age, and in DTM's
	// layout to -1: they are kept, as they may be another coordinator's. Set it to -1
	// wherever several coordinators share a table. At least 1 ms otherwise.
	Unknown time.Duration
	// Batch bounds the transactions looked at, and removed, by one statement.
	// Defaults to 200.
	Batch int
}

// Check returns an error that names the first option that nobody can have meant: a number
// without its unit is that many nanoseconds in Go, and would remove marks that are needed.
func (o *CleanOptions) Check() error {
	if o == nil {
		return nil
	}
	for _, d := range [...]struct {
		field string
		value time.Duration
	}{{"age", o.Age}, {"unknown", o.Unknown}} {
		if d.value != 0 && d.value != -1 && d.value < time.Millisecond {
			return input.Errorf(d.field, "%v: want 0 (default), 1ms or more, or -1", d.value)
		}
	}
	return nil
}

// WithDefaults fills in what is zero.
func (o *CleanOptions) WithDefaults() CleanOptions {
	c := CleanOptions{}
	if o != nil {
		c = *o
	}
	switch {
	case c.Age == 0:
		c.Age = 24 * time.Hour
	case c.Age < 0:
		c.Age = 0
	}
	if c.Unknown == 0 {
		c.Unknown = c.Age
	}
	if c.Batch <= 0 {
		c.Batch = 200
	}
	return c
}

// MayGo asks the coordinator whether a transaction's marks, which were set at some time,
// may be removed. It is for barriers over other stores. The options must be complete, and
// the marks older than Age.
func (o CleanOptions) MayGo(
	ctx context.Context, coordinator txn.Inspector, id string, set, now time.Time,
) (bool, error) {
	t, err := coordinator.Get(ctx, id)
	switch {
	case errors.Is(err, txn.ErrNotFound) || errors.Is(err, txn.ErrInvalid): // it can have none under this ID
		return o.Unknown >= 0 && now.Sub(set) >= o.Unknown, nil
	case err != nil:
		return false, fmt.Errorf("ask for transaction %q: %w", id, err)
	default:
		return t.Status.Final() && now.Sub(t.Finished) >= o.Age, nil
	}
}

// cleanOptions are the options for this layout. A transaction that is unknown in DTM's
// table may be DTM's.
func (l *layout) cleanOptions(opts *CleanOptions) CleanOptions {
	o := opts.WithDefaults()
	if l.sharedTable && (opts == nil || opts.Unknown == 0) {
		o.Unknown = -1
	}
	return o
}

// Clean removes the marks of transactions that have ended, by the coordinator's
// word, and says how many. Marks of a transaction that has not ended stay, however
// old they are. Call it now and then, from one place or from many:
//
//	for range time.Tick(time.Hour) {
//		removed, err := b.Clean(ctx, co, nil)
//		log.Print(removed, err)
//	}
func (b *Barrier) Clean(ctx context.Context, coordinator txn.Inspector, opts *CleanOptions) (removed int, err error) {
	if err := opts.Check(); err != nil {
		return 0, fmt.Errorf("barrier: clean: %w", err)
	}
	c := &cleaner{b: b, coordinator: coordinator, opts: b.layout.cleanOptions(opts)}
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
		n, err := c.removePage(ctx, page)
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
	rows, err := c.b.db.QueryContext(
		ctx, c.b.layout.oldQ, cutoff, last.created, last.created, last.transaction, c.opts.Batch,
	)
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

// removePage removes the marks of those transactions of a page that may go.
func (c *cleaner) removePage(ctx context.Context, page []old) (int, error) {
	var gone []string
	asked := map[string]bool{}
	for _, o := range page {
		if asked[o.transaction] {
			continue
		}
		asked[o.transaction] = true
		may, err := c.opts.MayGo(ctx, c.coordinator, o.transaction, time.UnixMicro(o.created), c.now)
		if err != nil {
			return 0, fmt.Errorf("barrier: clean: %w", err)
		}
		if may {
			gone = append(gone, o.transaction)
		}
	}
	return c.remove(ctx, gone)
}

// remove deletes the old marks of some transactions. Younger ones were set by calls
// that came late, so there may be more of these.
func (c *cleaner) remove(ctx context.Context, transactions []string) (int, error) {
	if len(transactions) == 0 {
		return 0, nil
	}
	args := []any{c.now.Add(-c.opts.Age).UnixMicro()}
	for _, id := range transactions {
		args = append(args, id)
	}
	list := "(" + strings.Join(slices.Repeat([]string{"?"}, len(transactions)), ", ") + ")"
	result, err := c.b.db.ExecContext(ctx, c.b.layout.dialect.kind().Place(c.b.layout.removeQ+list), args...)
	if err != nil {
		return 0, fmt.Errorf("barrier: clean: remove: %w", err)
	}
	n, err := result.RowsAffected()
	return int(n), err
}
