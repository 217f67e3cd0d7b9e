package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// nestedLoops has every row looked up by its key. The planner knows nothing of
// the lengths of arrays, and a plan it made while the table was small, reading
// all of it, would be used on when it is large. It holds until the commit.
const nestedLoops = "SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true), " +
	"set_config('enable_mergejoin', 'off', true)"

// Write implements [sqlstore.Dialect]. All statements go out together, which
// makes them one transaction that takes one round trip.
func (d *dialect) Write(ctx context.Context, table string, b sqlstore.Batch) (refused []string, err error) {
	conn, err := d.db.Conn(ctx)
	if err != nil {
		return nil, sqlstore.Unwritten(err)
	}
	defer conn.Close()
	err = raw(conn, func(c *pgx.Conn) error {
		refused, err = writeBatch(ctx, c, table, b)
		return err
	})
	return refused, d.certain(err)
}

// raw lends the connection below database/sql.
func raw(conn *sql.Conn, fn func(*pgx.Conn) error) error {
	return conn.Raw(func(c any) error {
		own, ok := c.(*stdlib.Conn)
		if !ok {
			return sqlstore.Unwritten(fmt.Errorf(
				"connection is a %T: want a database opened with github.com/jackc/pgx/v5/stdlib", c))
		}
		return fn(own.Conn())
	})
}

// certain marks an error that says that nothing was written: nothing was sent, or the
// server has refused the transaction, and rolled it back. Whatever else went wrong, be
// it that the store is closed, the server may be about to commit.
func (d *dialect) certain(err error) error {
	_, said := errors.AsType[*pgconn.PgError](err)
	if said && d.Judge(err) != sqlstore.Broken || pgconn.SafeToRetry(err) {
		return sqlstore.Unwritten(err)
	}
	return err
}

// writeBatch writes a batch and names the records refused.
func writeBatch(ctx context.Context, c *pgx.Conn, table string, b sqlstore.Batch) (refused []string, err error) {
	statements := &pgx.Batch{}
	statements.Queue(nestedLoops)
	if len(b.Creates) > 0 {
		statements.Queue(insert(table), arrays(inserted(), b.Creates)...).Query(func(rows pgx.Rows) error {
			return missing(rows, b.Creates, &refused)
		})
	}
	if len(b.Updates) > 0 {
		recs := column(b.Updates, func(u sqlstore.Update) *driver.Record { return u.Record })
		args := append(arrays(updatedFields(), recs),
			column(b.Updates, func(u sqlstore.Update) int64 { return u.Was.Revision }),
			column(b.Updates, func(u sqlstore.Update) int64 { return u.Was.Epoch }),
			column(b.Updates, func(u sqlstore.Update) int64 { return u.Was.Created }))
		statements.Queue(update(table), args...).Query(func(rows pgx.Rows) error {
			return missing(rows, recs, &refused)
		})
	}
	err = c.SendBatch(ctx, statements).Close()
	return refused, err
}

// missing adds the records that are not among the rows written.
func missing(rows pgx.Rows, recs []*driver.Record, refused *[]string) error {
	written, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(written) == len(recs) {
		return err
	}
	for _, rec := range recs {
		if !slices.Contains(written, rec.ID) {
			*refused = append(*refused, rec.ID)
		}
	}
	return nil
}
