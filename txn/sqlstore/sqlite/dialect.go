package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"io/fs"
	"time"

	"modernc.org/sqlite"

	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

//go:embed schema/*.sql
var migrations embed.FS

// dialect implements [sqlstore.Dialect].
type dialect struct {
	db   *sql.DB // one connection, on which all is written
	log  *logKeeper
	sole bool
}

// ifAbsent makes an insertion of what is there do nothing.
const ifAbsent = "ON CONFLICT (id) DO NOTHING"

// Clauses implements [sqlstore.Dialect]. A transaction that writes is alone, so
// there is nothing to skip.
func (d *dialect) Clauses() sqlstore.Clauses {
	return sqlstore.Clauses{Kind: sqlkind.SQLite, IfAbsent: ifAbsent}
}

// Now implements [sqlstore.Dialect]: SQLite's own clock is this one, too, but
// counts milliseconds.
func (d *dialect) Now(context.Context, sqlstore.Querier) (time.Time, error) {
	return time.Now().UTC().Truncate(time.Microsecond), nil
}

// Alone implements [sqlstore.Dialect]: whoever may write is alone.
func (d *dialect) Alone(ctx context.Context, _ string, fn func(sqlstore.Querier) error) error {
	return sqlstore.InTx(ctx, d.db, func(tx *sql.Tx) error { return fn(tx) })
}

// Sole implements [sqlstore.Sole].
func (d *dialect) Sole() bool { return d.sole }

// Migrations implements [sqlstore.Dialect].
func (d *dialect) Migrations() fs.FS { return migrations }

// Judge implements [sqlstore.Dialect].
func (d *dialect) Judge(err error) sqlstore.Verdict {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return sqlkind.OfSQLite(e.Code())
	}
	return sqlstore.Refused
}
