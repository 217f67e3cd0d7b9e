package mysql

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// Write implements [sqlstore.Dialect]. Hardly ever is anything refused; who it was
// is found out step by step.
func (d *dialect) Write(ctx context.Context, table string, b sqlstore.Batch) (refused []string, err error) {
	if d.packets {
		if refused, err := d.writePacket(ctx, newPacket(table, b)); !refused {
			return nil, err
		}
	}
	return d.writeInSteps(ctx, table, b)
}

// writeInSteps asks, decides and writes.
func (d *dialect) writeInSteps(ctx context.Context, table string, b sqlstore.Batch) (refused []string, err error) {
	err = sqlstore.InTx(ctx, d.db, func(tx *sql.Tx) error {
		taken, err := d.create(ctx, tx, table, b.Creates)
		if err != nil {
			return err
		}
		stale, err := d.update(ctx, tx, table, b.Updates)
		refused = slices.Concat(taken, stale)
		return err
	})
	return refused, err
}

// create inserts records, and names those whose ID is taken. That is rare, so it
// is asked for only when the insertion has failed.
func (d *dialect) create(
	ctx context.Context, tx *sql.Tx, table string, recs []*driver.Record,
) (taken []string, err error) {
	if err = insert(ctx, tx, table, recs, ""); err == nil || d.Judge(err) != sqlstore.Duplicate {
		return nil, err
	}
	if taken, err = existing(ctx, tx, table, recs); err != nil {
		return nil, err
	}
	free := slices.DeleteFunc(slices.Clone(recs), func(r *driver.Record) bool { return slices.Contains(taken, r.ID) })
	return taken, insert(ctx, tx, table, free, "")
}

// existing names the records whose IDs are taken.
func existing(ctx context.Context, tx *sql.Tx, table string, recs []*driver.Record) ([]string, error) {
	args := make([]any, len(recs))
	for i, rec := range recs {
		args[i] = rec.ID
	}
	return names(tx.QueryContext(ctx, "SELECT id FROM "+table+" WHERE id IN "+tuple(len(args)), args...))
}

// update replaces records. It locks those that still have the version their
// writers have seen, by their keys and in the order of these; what is locked is
// sure to be there, so that one INSERT replaces it all.
func (d *dialect) update(
	ctx context.Context, tx *sql.Tx, table string, updates []sqlstore.Update,
) (stale []string, err error) {
	if len(updates) == 0 {
		return nil, nil
	}
	fresh, err := current(ctx, tx, table, updates)
	if err != nil {
		return nil, err
	}
	var recs []*driver.Record
	for _, u := range updates {
		if slices.Contains(fresh, u.ID) {
			recs = append(recs, u.Record)
		} else {
			stale = append(stale, u.ID)
		}
	}
	return stale, insert(ctx, tx, table, recs, replace)
}

// current locks and names the records that have the version expected.
func current(ctx context.Context, tx *sql.Tx, table string, updates []sqlstore.Update) ([]string, error) {
	args := make([]any, 0, 4*len(updates))
	for _, u := range updates {
		args = append(args, u.ID, u.Was.Revision, u.Was.Epoch, u.Was.Created)
	}
	text := "SELECT id FROM " + table + " WHERE " + sqlstore.AsSeen(len(updates)) + " FOR UPDATE"
	return names(tx.QueryContext(ctx, text, args...))
}

// replace makes an INSERT write what may change of a record that exists. A spec
// that is not given stays.
const replace = " ON DUPLICATE KEY UPDATE revision = VALUES(revision), " + changes

const changes = "status = VALUES(status), parked = VALUES(parked), waits = VALUES(waits), " +
	"owner = VALUES(owner), epoch = VALUES(epoch), due = VALUES(due), " +
	"deadline = VALUES(deadline), updated = VALUES(updated), finished = VALUES(finished), " +
	"spec = COALESCE(VALUES(spec), spec), state = VALUES(state)"

// insert inserts records by one statement, unless there are none.
func insert(ctx context.Context, tx *sql.Tx, table string, recs []*driver.Record, otherwise string) error {
	if len(recs) == 0 {
		return nil
	}
	text, args := insertion(table, recs, otherwise)
	_, err := tx.ExecContext(ctx, text, args...)
	return err
}

// insertion is a statement that inserts records, of which there are some.
func insertion(table string, recs []*driver.Record, otherwise string) (text string, args []any) {
	for _, rec := range recs {
		args = append(args, sqlstore.Values(rec)...)
	}
	row := tuple(len(args) / len(recs))
	rows := strings.TrimSuffix(strings.Repeat(row+", ", len(recs)), ", ")
	return "INSERT INTO " + table + " (" + sqlstore.Columns + ") VALUES " + rows + otherwise, args
}

// tuple is a row of n parameters.
func tuple(n int) string { return "(" + strings.TrimSuffix(strings.Repeat("?, ", n), ", ") + ")" }

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
