// Package shedtable keeps locks in the table of ShedLock, a library for Java: who uses that and the same database has
// the same locks.
//
// A row is a lock, and stays: it is free when lock_until has passed. It has no place for a token, so the time at which
// a lock was taken is its token.
package shedtable

import (
	"context"
	"database/sql"
	"strings"
	"sync"

	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/remote"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

// DefaultTable is what ShedLock's table is called.
const DefaultTable = "shedlock"

// Columns are those it has.
const Columns = "name, locked_at, locked_by, lock_until"

// Table is where the locks are.
type Table struct {
	store *remote.Store
	texts map[statement]text

	setUp chan struct{} // one slot, of whoever looks at the table
	mu    sync.Mutex
	shape *shape // nil as long as nobody has looked
}

// shape is what there is to know of a table.
type shape struct {
	columns map[string]column
	commits bool // single statements are committed by themselves
}

// column is one that there is.
type column struct {
	kind    string
	length  int // in characters
	charset string
	digits  int // of a second
}

// wantedColumns are the columns, and how long a text each has to take.
func wantedColumns() map[string]int {
	return map[string]int{"name": 1, "lock_until": 0, "locked_at": 0, "locked_by": driver.MaxOwner + 1 + maxHost}
}

// Schema is the SQL that makes the table, as ShedLock's documents have it but for this: names may be as long as
// Bedrock's and are compared byte by byte, and no time has a zone.
func Schema(store *remote.Store) string {
	source := `CREATE TABLE IF NOT EXISTS {t} (
	name       VARCHAR(512) COLLATE "C" NOT NULL PRIMARY KEY,
	lock_until TIMESTAMP NOT NULL,
	locked_at  TIMESTAMP NOT NULL,
	locked_by  VARCHAR(255) NOT NULL
);
`
	if store.Layout.Kind == sqlkind.MySQL {
		source = `CREATE TABLE IF NOT EXISTS {t} (
	name       VARCHAR(512) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY,
	lock_until DATETIME(3) NOT NULL,
	locked_at  DATETIME(3) NOT NULL,
	locked_by  VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL
) ENGINE=InnoDB;
`
	}
	return strings.ReplaceAll(source, "{t}", store.Layout.Table)
}

func newTable(store *remote.Store) *Table {
	return &Table{
		store: store, texts: newTexts(store.Layout.Kind, store.Layout.Table), setUp: make(chan struct{}, 1),
	}
}

// Migrate makes the table if there is none.
func Migrate(ctx context.Context, store *remote.Store) error {
	return newTable(store).migrate(ctx)
}

func (t *Table) migrate(ctx context.Context) error {
	return t.store.Unwritten(t.store.Dialect.Alone(ctx, t.store.DB, func(q rows.Querier) error {
		_, err := q.ExecContext(ctx, t.schema())
		return err
	}))
}

func (t *Table) schema() string {
	return strings.TrimSuffix(Schema(t.store), ";\n")
}

// inspectTable finds out about the table the first time, and makes it if there is none.
func (t *Table) inspectTable(ctx context.Context) (*shape, error) {
	select {
	case t.setUp <- struct{}{}:
	case <-ctx.Done():
		return nil, t.store.Unwritten(ctx.Err())
	}
	defer func() { <-t.setUp }()
	t.mu.Lock()
	known := t.shape
	t.mu.Unlock()
	if known != nil {
		return known, nil
	}
	if err := t.store.CheckConnections(ctx); err != nil {
		return nil, err
	}
	found, err := t.findColumns(ctx)
	if err == nil && len(found.columns) == 0 {
		if err = t.store.MakeMissing(ctx, t.schema(), t.migrate); err != nil {
			return nil, err
		}
		found, err = t.findColumns(ctx)
	}
	if err == nil {
		err = t.check(ctx, found)
	}
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shape = found
	return found, nil
}

// forgetShape has the table be looked at again.
func (t *Table) forgetShape() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shape = nil
}

const (
	columnsOfPostgres = `SELECT column_name, data_type, COALESCE(character_maximum_length, 65535), 'utf8',
	COALESCE(datetime_precision, 0)
FROM information_schema.columns WHERE table_name = $1 AND table_schema = (SELECT relnamespace::regnamespace::text
	FROM pg_class WHERE oid = to_regclass($1))`
	columnsOfMySQL = `SELECT LOWER(column_name), data_type, COALESCE(character_maximum_length, 0),
	COALESCE(character_set_name, ''), COALESCE(datetime_precision, 0)
FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ?`
)

func (t *Table) findColumns(ctx context.Context) (*shape, error) {
	s := &shape{columns: make(map[string]column), commits: true}
	query := columnsOfPostgres
	if t.isMySQL() {
		query = columnsOfMySQL
	}
	err := t.store.Reading(ctx, func(q rows.Querier) error {
		if err := scanEach(ctx, q, query, func(found *sql.Rows) error {
			var name string
			var c column
			if err := found.Scan(&name, &c.kind, &c.length, &c.charset, &c.digits); err != nil {
				return err
			}
			s.columns[name] = c
			return nil
		}, t.store.Layout.Table); err != nil || !t.isMySQL() {
			return err
		}
		return scanEach(ctx, q, "SELECT @@autocommit", func(found *sql.Rows) error { return found.Scan(&s.commits) })
	})
	return s, err
}

func (t *Table) isMySQL() bool { return t.store.Layout.Kind == sqlkind.MySQL }

// scanEach has each row of an answer be read.
func scanEach(ctx context.Context, q rows.Querier, query string, scan func(*sql.Rows) error, args ...any) error {
	found, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		if err := scan(found); err != nil {
			return err
		}
	}
	return found.Err()
}
