package postgres

import (
	"context"
	"database/sql"
	"slices"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// Write implements [sqlstore.Dialect]. Rows travel as one array per column, so
// the statements are always the same two, and planned once.
func (d *dialect) Write(ctx context.Context, table string, b sqlstore.Batch) (refused []string, err error) {
	err = sqlstore.InTx(ctx, d.db, func(tx *sql.Tx) error {
		refused = nil
		if len(b.Creates) > 0 {
			written, err := names(tx.QueryContext(ctx, insert(table), created(b.Creates)...))
			if err != nil {
				return err
			}
			refused = missing(b.Creates, written, refused)
		}
		if len(b.Updates) > 0 {
			recs, args := updated(b.Updates)
			written, err := names(tx.QueryContext(ctx, update(table), args...))
			if err != nil {
				return err
			}
			refused = missing(recs, written, refused)
		}
		return nil
	})
	return refused, err
}

// missing adds the records that were not written.
func missing(recs []*driver.Record, written, refused []string) []string {
	if len(written) == len(recs) {
		return refused
	}
	for _, rec := range recs {
		if !slices.Contains(written, rec.ID) {
			refused = append(refused, rec.ID)
		}
	}
	return refused
}

func insert(table string) string {
	return "INSERT INTO " + table + " (" + sqlstore.Columns + ") SELECT * FROM unnest(" +
		"$1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], " +
		"$9::bigint[], $10::bigint[], $11::smallint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[], " +
		"$16::bigint[], $17::bytea[], $18::bytea[]) ON CONFLICT (id) DO NOTHING RETURNING id"
}

// update leaves a spec alone that is not given.
func update(table string) string {
	return "UPDATE " + table + " AS t SET status = v.status, parked = v.parked, waits = v.waits, owner = v.owner, " +
		"epoch = v.epoch, revision = v.revision, due = v.due, deadline = v.deadline, updated = v.updated, " +
		"finished = v.finished, spec = COALESCE(v.spec, t.spec), state = v.state FROM unnest(" +
		"$1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], " +
		"$9::bigint[], $10::bigint[], $11::bigint[], $12::bytea[], $13::bytea[], $14::bigint[], $15::bigint[]) " +
		"AS v (id, status, parked, waits, owner, epoch, revision, due, deadline, updated, finished, spec, state, " +
		"was_revision, was_epoch) " +
		"WHERE t.id = v.id AND t.revision = v.was_revision AND t.epoch = v.was_epoch RETURNING t.id"
}

// created are the columns of new records.
func created(recs []*driver.Record) []any {
	text := func(f func(*driver.Record) string) any { return column(recs, f) }
	number := func(f func(*driver.Record) int64) any { return column(recs, f) }
	return []any{
		text(func(r *driver.Record) string { return r.ID }),
		text(func(r *driver.Record) string { return r.Mode }),
		text(func(r *driver.Record) string { return r.Name }),
		text(func(r *driver.Record) string { return r.Digest }),
		text(func(r *driver.Record) string { return string(r.Status) }),
		text(func(r *driver.Record) string { return r.Parked }),
		text(func(r *driver.Record) string { return r.Waits }),
		text(func(r *driver.Record) string { return r.Owner }),
		number(func(r *driver.Record) int64 { return r.Epoch }),
		number(func(r *driver.Record) int64 { return r.Revision }),
		number(func(r *driver.Record) int64 { return int64(driver.Shard(r.ID)) }),
		number(func(r *driver.Record) int64 { return sqlstore.Micros(r.Due) }),
		number(func(r *driver.Record) int64 { return sqlstore.Micros(r.Deadline) }),
		number(func(r *driver.Record) int64 { return sqlstore.Micros(r.Created) }),
		number(func(r *driver.Record) int64 { return sqlstore.Micros(r.Updated) }),
		number(func(r *driver.Record) int64 { return sqlstore.Micros(r.Finished) }),
		column(recs, func(r *driver.Record) []byte { return r.Spec }),
		column(recs, func(r *driver.Record) []byte { return r.State }),
	}
}

// updated are the columns of records that change, and the versions they had.
func updated(updates []sqlstore.Update) ([]*driver.Record, []any) {
	recs := column(updates, func(u sqlstore.Update) *driver.Record { return u.Record })
	all := created(recs)
	const id, status, parked, waits, owner, epoch, revision = 0, 4, 5, 6, 7, 8, 9
	const due, deadline, changed, finished, spec, state = 11, 12, 14, 15, 16, 17
	args := make([]any, 0, 15)
	for _, i := range []int{id, status, parked, waits, owner, epoch, revision, due, deadline, changed, finished, spec, state} {
		args = append(args, all[i])
	}
	return recs, append(args,
		column(updates, func(u sqlstore.Update) int64 { return u.Was.Revision }),
		column(updates, func(u sqlstore.Update) int64 { return u.Was.Epoch }))
}

// column makes an array of what every row has.
func column[R, T any](rows []R, value func(R) T) []T {
	values := make([]T, len(rows))
	for i, row := range rows {
		values[i] = value(row)
	}
	return values
}

// names reads a column of IDs.
func names(rows *sql.Rows, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}
