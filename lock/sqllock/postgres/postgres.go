package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bedrock-go/bedrock/internal/sqlkind"
	lockdriver "github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/ledger"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/profiles"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/remote"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/session"
)

const label = "postgres"

// databaseKind is what the profiles go by.
func databaseKind() *profiles.Database {
	return &profiles.Database{
		Label: label, Dialect: newDialect, Rows: newBackend, Check: checkServer,
		Sessions: session.Ways{Verify: verifySession, Cut: cutConn},
	}
}

// newBackend returns one for all kinds of locks.
func newBackend(store *remote.Store) lockdriver.Backend {
	return &backend{
		Backend: remote.NewBackend(store, label), texts: newTexts(store.Layout.Table), hub: newHub(store),
	}
}

// newDialect returns what sets the database apart, for tables that are called so.
func newDialect(table string) remote.Dialect {
	tell := newTexts(table).tell
	return remote.Dialect{
		Kind: sqlkind.Postgres, Classify: errorClass, IsMissing: isMissing, IsDenied: isDenied,
		LeftNothing: leftNothing, CleanUp: cleanUp, Refuses: translates, Advise: advise,
		Begin:        []string{"BEGIN ISOLATION LEVEL READ COMMITTED; " + guard},
		BeginReading: []string{"BEGIN ISOLATION LEVEL REPEATABLE READ"},
		Commit:       commit,
		Alone: func(ctx context.Context, db *sql.DB, fn func(rows.Querier) error) error {
			return migrateAlone(ctx, db, table, fn)
		},
		Tell: func(ctx context.Context, q rows.Querier, states []*ledger.State) error {
			return tellWoken(ctx, q, tell, channelOf(table), states)
		},
	}
}

// guard gives a client 5 s to say what is next, and as many to take what the server has for it. That holds until the
// commit, not for the session: behind a pooler it may be somebody else's next.
const guard = "SELECT set_config('idle_in_transaction_session_timeout', '5s', true), " +
	"set_config('tcp_user_timeout', '5s', true), set_config('lock_timeout', '5s', true)"

// commit ends a transaction. After a statement that has failed a commit alone would roll back, and be no error; another
// statement fails.
const commit = "SELECT 1; COMMIT"

// migrateAlone runs fn while nobody else makes the tables.
func migrateAlone(ctx context.Context, db *sql.DB, table string, fn func(rows.Querier) error) error {
	tx, err := remote.Begin(ctx, db, "BEGIN")
	if err != nil {
		return err
	}
	defer tx.RollBack(ctx) // of no effect after the commit
	_, err = tx.ExecContext(
		ctx, "SELECT pg_advisory_xact_lock(hashtextextended('bedrock makes ' || $1::text, 0))", table,
	)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit(ctx, commit)
}

// errorClass says what an error means.
func errorClass(err error) sqlkind.Class {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return sqlkind.OfPostgres(e.Code)
	}
	_, network := errors.AsType[net.Error](err)
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	if network || connecting || pgconn.Timeout(err) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, sql.ErrConnDone) {
		return sqlkind.Broken
	}
	return sqlkind.Refused
}

func isMissing(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && sqlkind.NoTableInPostgres(e.Code)
}

// isDenied reports whether an account may not do something.
func isDenied(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && sqlkind.DeniedByPostgres(e.Code)
}

// advise says what to do about errors that tell of their cause to nobody but who knows it.
func advise(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && sqlkind.LostByPooler(e.Code) {
		return "a pooler on the way keeps no prepared statements: put default_query_exec_mode=exec into the URL"
	}
	return ""
}

// leftNothing reports whether nothing has happened for certain.
func leftNothing(err error) bool { return isAnswer(err) || neverSent(err) }

// isAnswer reports whether the server has said that a statement failed. One that is being shut down may say so when
// the statement has been carried out; one that only reads has carried out nothing.
func isAnswer(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (sqlkind.OfPostgres(e.Code) != sqlkind.Broken || sqlkind.ReadOnlyInPostgres(e.Code))
}

// neverSent reports whether a statement has not left this process.
func neverSent(err error) bool {
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	return connecting || pgconn.SafeToRetry(err) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone)
}

// backend implements the driver interfaces on a database.
type backend struct {
	remote.Backend

	texts texts
	hub   *hub
}

var (
	_ lockdriver.Backend    = (*backend)(nil)
	_ lockdriver.Waiter     = (*backend)(nil)
	_ lockdriver.TurnWaiter = (*backend)(nil)
	_ lockdriver.Checker    = (*backend)(nil)
	_ lockdriver.Identifier = (*backend)(nil)
)

// Close implements [lockdriver.Backend].
func (b *backend) Close() error {
	b.Store.Close()
	return b.hub.close()
}
