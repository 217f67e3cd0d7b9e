package floor

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver
)

// OpenSQLite writes to a database file in dir: write-ahead log, flushed by every
// commit.
func OpenSQLite(ctx context.Context, dir string) (*Group, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "floor.db")+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, fmt.Errorf("open sqlite: %w", err)
	}
	w, err := newSQLiteWriter(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("open sqlite: %w", errors.Join(err, db.Close()))
	}
	return newGroup(func() error { return errors.Join(w.conn.Close(), db.Close()) }, w.flush), nil
}

// atOnce is how many records one statement inserts where there are enough. Longer
// ones were slower.
const atOnce = 8

// sqliteWriter is a connection with prepared statements. They are used without
// database/sql in between, whose conversions cost as much as the insertion.
type sqliteWriter struct {
	conn                     *sql.Conn
	begin, commit, one, many driver.StmtExecContext
	args                     [atOnce]driver.NamedValue
}

func newSQLiteWriter(ctx context.Context, db *sql.DB) (*sqliteWriter, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &sqliteWriter{conn: conn}
	_, err = conn.ExecContext(ctx, "CREATE TABLE floor (id INTEGER PRIMARY KEY, record BLOB NOT NULL)")
	if err == nil {
		err = conn.Raw(func(raw any) error { return w.prepareStatements(ctx, raw) })
	}
	return w, err
}

// prepareStatements makes the statements.
func (w *sqliteWriter) prepareStatements(ctx context.Context, raw any) error {
	conn, ok := raw.(driver.ConnPrepareContext)
	if !ok {
		return fmt.Errorf("driver %T cannot prepare", raw)
	}
	const insert = "INSERT INTO floor (record) VALUES (?)"
	for text, into := range map[string]*driver.StmtExecContext{
		"BEGIN IMMEDIATE": &w.begin, "COMMIT": &w.commit, insert: &w.one,
		insert + strings.Repeat(",(?)", atOnce-1): &w.many,
	} {
		statement, err := conn.PrepareContext(ctx, text)
		if err != nil {
			return err
		}
		if *into, ok = statement.(driver.StmtExecContext); !ok {
			return fmt.Errorf("statement %T cannot be executed", statement)
		}
	}
	return nil
}

// flush inserts records in one transaction.
func (w *sqliteWriter) flush(records [][]byte) error {
	return w.conn.Raw(func(any) error {
		if err := w.exec(w.begin, nil); err != nil {
			return err
		}
		for len(records) >= atOnce {
			if err := w.exec(w.many, records[:atOnce]); err != nil {
				return err
			}
			records = records[atOnce:]
		}
		for i := range records {
			if err := w.exec(w.one, records[i:i+1]); err != nil {
				return err
			}
		}
		return w.exec(w.commit, nil)
	})
}

// exec runs a statement with records as its arguments.
func (w *sqliteWriter) exec(statement driver.StmtExecContext, records [][]byte) error {
	for i, r := range records {
		w.args[i] = driver.NamedValue{Ordinal: i + 1, Value: r}
	}
	// Nothing ends early: all who wait are to be told the same.
	_, err := statement.ExecContext(context.Background(), w.args[:len(records)])
	return err
}
