package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// statements are what a batch consists of, prepared on the connection that writes.
// They are used without database/sql in between, whose locks and conversions cost
// a good part of what the row does. In process there is nothing to be gained by
// writing many rows with one statement.
type statements struct {
	begin, commit, rollback driver.StmtExecContext
	insert, update, respec  driver.StmtExecContext
	all                     []driver.Stmt
	args                    []driver.NamedValue // used again by every row
}

// Write implements [sqlstore.Dialect].
func (d *dialect) Write(ctx context.Context, table string, b sqlstore.Batch) (refused []string, err error) {
	// A context that can end costs a goroutine per statement. The busy timeout
	// bounds the only thing that can take long.
	ctx = context.WithoutCancel(ctx)
	conn, err := d.db.Conn(ctx)
	if err != nil {
		return nil, sqlstore.Unwritten(err)
	}
	defer conn.Close()
	err = conn.Raw(func(raw any) error {
		own, ok := raw.(*session)
		if !ok {
			return sqlstore.Unwritten(fmt.Errorf("connection is a %T", raw))
		}
		if err := own.keepShort(ctx); err != nil {
			return sqlstore.Unwritten(err)
		}
		refused, err = own.write(ctx, table, b)
		return err
	})
	return refused, err
}

func (s *session) write(ctx context.Context, table string, b sqlstore.Batch) (refused []string, err error) {
	if len(s.stmts.all) == 0 {
		if err := s.stmts.prepareAll(ctx, s.connection, table); err != nil {
			return nil, sqlstore.Unwritten(errors.Join(err, s.stmts.close()))
		}
	}
	return s.stmts.inTx(ctx, b)
}

// prepareAll makes the statements. After an error some are to be closed.
func (s *statements) prepareAll(ctx context.Context, conn driver.ConnPrepareContext, table string) error {
	for text, into := range s.byText(table) {
		stmt, err := conn.PrepareContext(ctx, text)
		if err != nil {
			return err
		}
		s.all = append(s.all, stmt)
		own, ok := stmt.(driver.StmtExecContext)
		if !ok {
			return fmt.Errorf("driver's statement %T cannot be executed", stmt)
		}
		*into = own
	}
	return nil
}

func (s *statements) byText(table string) map[string]*driver.StmtExecContext {
	columns := strings.Count(sqlstore.Columns, ",")
	assignments := "status = ?, parked = ?, waits = ?, owner = ?, epoch = ?, revision = ?, due = ?, deadline = ?, " +
		"updated = ?, finished = ?, state = ? WHERE id = ? AND revision = ? AND epoch = ? AND created = ?"
	return map[string]*driver.StmtExecContext{
		"BEGIN IMMEDIATE": &s.begin,
		"COMMIT":          &s.commit,
		"ROLLBACK":        &s.rollback,
		"INSERT INTO " + table + " (" + sqlstore.Columns + ") VALUES (?" + strings.Repeat(", ?", columns) + ") " +
			ifAbsent: &s.insert,
		"UPDATE " + table + " SET " + assignments:           &s.update,
		"UPDATE " + table + " SET spec = ?, " + assignments: &s.respec,
	}
}

// inTx writes a batch in one transaction. Until the commit nothing is written for
// certain. A connection whose transaction does not end as told is not used again.
func (s *statements) inTx(ctx context.Context, b sqlstore.Batch) ([]string, error) {
	if _, err := s.exec(ctx, s.begin); err != nil {
		return nil, sqlstore.Unwritten(err)
	}
	refused, err := s.rows(ctx, b)
	if err != nil {
		if _, failed := s.exec(ctx, s.rollback); failed != nil {
			err = errors.Join(err, driver.ErrBadConn)
		}
		return nil, sqlstore.Unwritten(err)
	}
	if _, err := s.exec(ctx, s.commit); err != nil {
		return nil, errors.Join(err, driver.ErrBadConn)
	}
	return refused, nil
}

// rows writes the rows of a batch, and lists the IDs of those it did not.
func (s *statements) rows(ctx context.Context, b sqlstore.Batch) (refused []string, err error) {
	for _, rec := range b.Creates {
		if refused, err = s.row(ctx, s.insert, rec.ID, refused, sqlstore.Values(rec)...); err != nil {
			return nil, err
		}
	}
	for _, u := range b.Updates {
		stmt, args := s.update, values(u)
		if u.Spec != nil {
			stmt, args = s.respec, append([]any{u.Spec}, args...)
		}
		if refused, err = s.row(ctx, stmt, u.ID, refused, args...); err != nil {
			return nil, err
		}
	}
	return refused, nil
}

func (s *statements) row(
	ctx context.Context, stmt driver.StmtExecContext, id string, refused []string, args ...any,
) ([]string, error) {
	result, err := s.exec(ctx, stmt, args...)
	if err != nil {
		return refused, err
	}
	n, err := result.RowsAffected()
	if n == 0 && err == nil {
		refused = append(refused, id)
	}
	return refused, err
}

func (s *statements) exec(ctx context.Context, stmt driver.StmtExecContext, args ...any) (driver.Result, error) {
	s.args = s.args[:0]
	for i, v := range args {
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return stmt.ExecContext(ctx, s.args)
}

// values are the parameters of an update, but for the spec.
func values(u sqlstore.Update) []any {
	return []any{
		string(u.Status), u.Parked, u.Waits, u.Owner, u.Epoch, u.Revision,
		sqlstore.Micros(u.Due), sqlstore.Micros(u.Deadline), sqlstore.Micros(u.Updated), sqlstore.Micros(u.Finished),
		u.State, u.ID, u.Was.Revision, u.Was.Epoch, u.Was.Created,
	}
}

func (s *statements) close() error {
	var errs []error
	for _, stmt := range s.all {
		errs = append(errs, stmt.Close())
	}
	*s = statements{}
	return errors.Join(errs...)
}
