package mysql

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

//go:embed schema/*.sql
var migrations embed.FS

// dialect implements [sqlstore.Dialect].
type dialect struct {
	db      *sql.DB
	packets bool // several statements may go out together
}

// Clauses implements [sqlstore.Dialect]. INSERT IGNORE would ignore too much, so
// an ID that is taken is an error.
func (d *dialect) Clauses() sqlstore.Clauses {
	return sqlstore.Clauses{
		Kind: sqlkind.MySQL, SkipLocked: "FOR UPDATE SKIP LOCKED",
		ByStatus: "FORCE INDEX FOR ORDER BY (status)", ByDue: "FORCE INDEX (due)", ByTarget: "FORCE INDEX (waits)",
	}
}

// Now implements [sqlstore.Dialect].
func (d *dialect) Now(ctx context.Context, q sqlstore.Querier) (time.Time, error) {
	var micros int64
	err := q.QueryRowContext(ctx, "SELECT "+sqlkind.MySQL.Clock()).Scan(&micros)
	return sqlstore.FromMicros(micros), err
}

// lockWait is how long a migration waits for another process's.
const lockWait = time.Minute

// Alone implements [sqlstore.Dialect], with a named lock. Such names hold for the
// whole server, and are short.
func (d *dialect) Alone(ctx context.Context, table string, fn func(sqlstore.Querier) error) (err error) {
	conn, err := d.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var database string
	if err := conn.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&database); err != nil {
		return fmt.Errorf("ask for the name of the database: %w", err)
	}
	sum := sha256.Sum256([]byte(database + "." + table))
	name := "bedrock-" + hex.EncodeToString(sum[:16])
	var got sql.NullInt64
	if err := conn.QueryRowContext(ctx, "SELECT GET_LOCK(?, ?)", name, int(lockWait.Seconds())).Scan(&got); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if got.Int64 != 1 {
		return fmt.Errorf("lock: another process has migrated for %v", lockWait)
	}
	defer func() {
		_, unlockErr := conn.ExecContext(context.WithoutCancel(ctx), "DO RELEASE_LOCK(?)", name)
		err = errors.Join(err, unlockErr)
	}()
	return fn(conn)
}

// Migrations implements [sqlstore.Dialect].
func (d *dialect) Migrations() fs.FS { return migrations }

// Judge implements [sqlstore.Dialect].
func (d *dialect) Judge(err error) sqlstore.Verdict {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return sqlkind.OfMySQL(e.Number)
	}
	if errors.Is(err, mysql.ErrPktTooLarge) {
		return sqlstore.TooLarge
	}
	_, network := errors.AsType[net.Error](err)
	if network || errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) {
		return sqlstore.Broken
	}
	return sqlstore.Refused
}
