package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// Claim implements [driver.Store]. Most claims find nothing, and end with a look
// that locks nothing. Others are one short transaction that waits for nobody:
// what others have locked they are about to claim, or to write.
func (s *Store) Claim(ctx context.Context, c driver.Claim) (driver.Claimed, error) {
	var claimed driver.Claimed
	err := s.whileAlive(ctx, fmt.Sprintf("claim for %q", c.Owner), func(ctx context.Context) (err error) {
		var some bool
		if claimed.Now, some, err = s.anyDue(ctx, c); err != nil || !some {
			return Unwritten(err)
		}
		return s.syncer.durably(ctx, func() error {
			return s.repeat(ctx, func() error {
				return InTx(ctx, s.db.Write, func(tx *sql.Tx) (err error) {
					claimed, err = s.claimIn(ctx, tx, c)
					return err
				})
			})
		})
	})
	if err != nil {
		return driver.Claimed{}, err
	}
	return claimed, nil
}

// anyDue reads the clock, and reports whether there is anything to claim.
func (s *Store) anyDue(ctx context.Context, c driver.Claim) (now time.Time, some bool, err error) {
	now, err = s.dialect.Now(ctx, s.db.Read)
	if err != nil {
		return now, false, err
	}
	q := s.due("SELECT 1", c, now)
	q.add(" LIMIT 1")
	var one int
	err = s.db.Read.QueryRowContext(ctx, s.sql(q.text), q.args...).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return now, false, nil
	}
	return now, err == nil, err
}

// claimIn takes several round trips. A process that is frozen in between must not keep for
// long what it has locked, because others are to take over from it.
func (s *Store) claimIn(ctx context.Context, tx *sql.Tx, c driver.Claim) (driver.Claimed, error) {
	if text := s.clauses.Claiming; text != "" {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return driver.Claimed{}, err
		}
	}
	now, err := s.dialect.Now(ctx, tx)
	if err != nil {
		return driver.Claimed{}, err
	}
	recs, err := s.lockDue(ctx, tx, c, now)
	if err != nil {
		return driver.Claimed{}, err
	}
	for _, rec := range recs {
		rec.Owner, rec.Waits, rec.Due = c.Owner, "", FromMicros(Micros(now.Add(c.Lease)))
		rec.Epoch++
		rec.Revision++
	}
	return driver.Claimed{Records: recs, Now: now}, s.handOver(ctx, tx, recs)
}

// lockDue selects what the claim asks for and nobody else has locked, in the order of an
// index: a backlog must not be sorted, nor locked, for a claim of its first hundred.
// Records without a due time come last.
func (s *Store) lockDue(ctx context.Context, tx *sql.Tx, c driver.Claim, now time.Time) ([]*driver.Record, error) {
	query := func() *query { return s.due("SELECT "+Columns, c, now) }
	if c.Target == "" {
		return s.first(ctx, tx, query(), " ORDER BY due, id", c.Limit)
	}
	recs, err := s.first(ctx, tx, query(), " AND due > 0 ORDER BY due, id", c.Limit)
	if err != nil || len(recs) == c.Limit {
		return recs, err
	}
	undue, err := s.first(ctx, tx, query(), " AND due = 0 ORDER BY id", c.Limit-len(recs))
	return append(recs, undue...), err
}

// first locks the first rows of a query.
func (s *Store) first(ctx context.Context, tx *sql.Tx, q *query, order string, limit int) ([]*driver.Record, error) {
	q.add(order+" LIMIT ? "+s.clauses.SkipLocked, limit)
	rows, err := tx.QueryContext(ctx, s.sql(q.text), q.args...)
	if err != nil {
		return nil, err
	}
	return scanAll(rows, true)
}

// due selects what can be claimed.
func (s *Store) due(selected string, c driver.Claim, now time.Time) *query {
	hint := s.clauses.ByDue
	if c.Target != "" {
		hint = s.clauses.ByTarget
	}
	q := &query{text: selected + " FROM {tx} " + hint + " WHERE parked = '' AND " + isUnderWay}
	if c.Target != "" {
		q.add(" AND waits = ? AND waits > ''", c.Target) // the latter for partial indexes
	} else {
		q.add(" AND due > 0 AND due <= ?", Micros(now))
	}
	if c.From != 0 || c.To != 0 {
		q.add(" AND shard >= ? AND shard < ?", c.From, c.To)
	}
	return q
}

// handOver writes what a claim changes, which is the same for all.
func (s *Store) handOver(ctx context.Context, tx *sql.Tx, recs []*driver.Record) error {
	if len(recs) == 0 {
		return nil
	}
	q := &query{text: "UPDATE {tx} SET waits = '', epoch = epoch + 1, revision = revision + 1"}
	q.add(", owner = ?, due = ?", recs[0].Owner, Micros(recs[0].Due))
	q.add(" WHERE id IN (" + sqlkind.Marks(len(recs)) + ")")
	for _, rec := range recs {
		q.args = append(q.args, rec.ID)
	}
	_, err := tx.ExecContext(ctx, s.sql(q.text), q.args...)
	return err
}

// query is a statement in the making.
type query struct {
	text string
	args []any
}

func (q *query) add(text string, args ...any) {
	q.text += text
	q.args = append(q.args, args...)
}
