package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

//go:embed schema/*.sql
var migrations embed.FS

// dialect implements [sqlstore.Dialect].
type dialect struct{ db *sql.DB }

// Clauses implements [sqlstore.Dialect].
func (d *dialect) Clauses() sqlstore.Clauses {
	return sqlstore.Clauses{
		Kind: sqlkind.Postgres, IfAbsent: "ON CONFLICT (id) DO NOTHING", SkipLocked: "FOR UPDATE SKIP LOCKED",
		Claiming: endIfSilent + inOrder,
	}
}

// endIfSilent gives a client 5 s to say what is next, and as many to take what the
// server has for it. That holds until the commit, not for the session: behind a
// pooler it may be somebody else's next.
const endIfSilent = "SELECT set_config('idle_in_transaction_session_timeout', '5s', true), " +
	"set_config('tcp_user_timeout', '5s', true)"

// inOrder has what is claimed read in the order of an index. A planner without
// statistics would rather sort a backlog of 100,000 for each claim of 256.
const inOrder = ", set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true), " +
	"set_config('enable_seqscan', 'off', true)"

// Now implements [sqlstore.Dialect].
func (d *dialect) Now(ctx context.Context, q sqlstore.Querier) (time.Time, error) {
	var micros int64
	err := q.QueryRowContext(ctx, "SELECT "+sqlkind.Postgres.Clock()).Scan(&micros)
	return sqlstore.FromMicros(micros), err
}

// Alone implements [sqlstore.Dialect], with an advisory lock that ends with its
// transaction. DDL is part of that.
func (d *dialect) Alone(ctx context.Context, table string, fn func(sqlstore.Querier) error) error {
	return sqlstore.InTx(ctx, d.db, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, endIfSilent); err != nil {
			return err
		}
		_, err := tx.ExecContext(
			ctx, "SELECT pg_advisory_xact_lock(hashtextextended('bedrock migrates ' || $1::text, 0))", table,
		)
		if err != nil {
			return fmt.Errorf("lock: %w", err)
		}
		return fn(tx)
	})
}

// Migrations implements [sqlstore.Dialect].
func (d *dialect) Migrations() fs.FS { return migrations }

// Judge implements [sqlstore.Dialect].
func (d *dialect) Judge(err error) sqlstore.Verdict {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return sqlkind.OfPostgres(e.Code)
	}
	_, network := errors.AsType[net.Error](err)
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	if network || connecting || errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.ErrUnexpectedEOF) {
		return sqlstore.Broken
	}
	return sqlstore.Refused
}
