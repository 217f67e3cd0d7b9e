package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

//go:embed schema/*.sql
var migrations embed.FS

// dialect implements [sqlstore.Dialect].
type dialect struct {
	db *sql.DB // one connection, on which all is written

	prepare sync.Once
	failed  error
	stmts   statements
}

// statements are what a batch consists of, prepared. In process there is nothing
// to be gained by writing many rows with one.
type statements struct {
	insert, update, respec *sql.Stmt
}

func newDialect(write *sql.DB) *dialect { return &dialect{db: write} }

// Clauses implements [sqlstore.Dialect]. A transaction that writes is alone, so
// there is nothing to skip.
func (d *dialect) Clauses() sqlstore.Clauses {
	return sqlstore.Clauses{Name: "sqlite", IfAbsent: "ON CONFLICT (id) DO NOTHING"}
}

// Now implements [sqlstore.Dialect]: SQLite's own clock is this one, too, but
// counts milliseconds.
func (d *dialect) Now(context.Context, sqlstore.Querier) (time.Time, error) {
	return time.Now().UTC().Truncate(time.Microsecond), nil
}

// Write implements [sqlstore.Dialect].
func (d *dialect) Write(ctx context.Context, table string, b sqlstore.Batch) ([]string, error) {
	// A context that can end costs a goroutine per statement. The busy timeout
	// bounds the only thing that can take long.
	ctx = context.WithoutCancel(ctx)
	if err := d.prepared(ctx, table); err != nil {
		return nil, sqlstore.Unwritten(err)
	}
	var refused []string
	err := sqlstore.InTx(ctx, d.db, func(tx *sql.Tx) (err error) {
		refused, err = d.write(ctx, tx, b)
		return err
	})
	return refused, err
}

func (d *dialect) write(ctx context.Context, tx *sql.Tx, b sqlstore.Batch) (refused []string, err error) {
	insert := tx.StmtContext(ctx, d.stmts.insert)
	for _, rec := range b.Creates {
		if refused, err = exec(ctx, insert, rec.ID, refused, sqlstore.Values(rec)); err != nil {
			return nil, err
		}
	}
	update, respec := tx.StmtContext(ctx, d.stmts.update), tx.StmtContext(ctx, d.stmts.respec)
	for _, u := range b.Updates {
		stmt, args := update, values(u)
		if u.Spec != nil {
			stmt, args = respec, append([]any{u.Spec}, args...)
		}
		if refused, err = exec(ctx, stmt, u.ID, refused, args); err != nil {
			return nil, err
		}
	}
	return refused, nil
}

// exec writes a row and adds its ID to those refused when it did not.
func exec(ctx context.Context, stmt *sql.Stmt, id string, refused []string, args []any) ([]string, error) {
	result, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return refused, err
	}
	n, err := result.RowsAffected()
	if n == 0 && err == nil {
		refused = append(refused, id)
	}
	return refused, err
}

// values are the parameters of an update, but for the spec.
func values(u sqlstore.Update) []any {
	return []any{
		string(u.Status), u.Parked, u.Waits, u.Owner, u.Epoch, u.Revision,
		sqlstore.Micros(u.Due), sqlstore.Micros(u.Deadline), sqlstore.Micros(u.Updated), sqlstore.Micros(u.Finished),
		u.State, u.ID, u.Was.Revision, u.Was.Epoch,
	}
}

// prepared prepares the statements, once the table is there.
func (d *dialect) prepared(ctx context.Context, table string) error {
	d.prepare.Do(func() {
		columns := strings.Count(sqlstore.Columns, ",")
		insert := "INSERT INTO " + table + " (" + sqlstore.Columns + ") VALUES (?" + strings.Repeat(", ?", columns) + ") " +
			d.Clauses().IfAbsent
		assignments := "status = ?, parked = ?, waits = ?, owner = ?, epoch = ?, revision = ?, due = ?, deadline = ?, " +
			"updated = ?, finished = ?, state = ? WHERE id = ? AND revision = ? AND epoch = ?"
		for dest, text := range map[**sql.Stmt]string{
			&d.stmts.insert: insert,
			&d.stmts.update: "UPDATE " + table + " SET " + assignments,
			&d.stmts.respec: "UPDATE " + table + " SET spec = ?, " + assignments,
		} {
			*dest, d.failed = d.db.PrepareContext(ctx, text) //nolint:sqlclosecheck // closed with the store
			if d.failed != nil {
				return
			}
		}
	})
	return d.failed
}

func (d *dialect) close() error {
	var errs []error
	for _, stmt := range []*sql.Stmt{d.stmts.insert, d.stmts.update, d.stmts.respec} {
		if stmt != nil {
			errs = append(errs, stmt.Close())
		}
	}
	return errors.Join(errs...)
}

// Alone implements [sqlstore.Dialect]: whoever may write is alone.
func (d *dialect) Alone(ctx context.Context, _ string, fn func(sqlstore.Querier) error) error {
	return sqlstore.InTx(ctx, d.db, func(tx *sql.Tx) error { return fn(tx) })
}

// Migrations implements [sqlstore.Dialect].
func (d *dialect) Migrations() fs.FS { return migrations }

// Judge implements [sqlstore.Dialect].
func (d *dialect) Judge(err error) sqlstore.Verdict {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return sqlstore.Refused
	}
	switch e.Code() & 0xff {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return sqlstore.Collided
	case lib.SQLITE_CONSTRAINT:
		return sqlstore.Duplicate
	case lib.SQLITE_IOERR, lib.SQLITE_FULL, lib.SQLITE_CANTOPEN, lib.SQLITE_READONLY:
		return sqlstore.Broken
	default:
		return sqlstore.Refused
	}
}
