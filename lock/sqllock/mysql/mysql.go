package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"

	"github.com/go-sql-driver/mysql"

	"github.com/bedrock-go/bedrock/internal/sqlkind"
	lockdriver "github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/profiles"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/remote"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/rows"
)

const label = "mysql"

// How transactions begin and end.
const (
	begin  = "START TRANSACTION"
	commit = "COMMIT AND NO CHAIN" // whatever completion_type is
)

// databaseKind is what the profiles go by.
func databaseKind() *profiles.Database {
	return &profiles.Database{
		Label: label, Dialect: newDialect, Rows: newBackend, Check: checkServer,
	}
}

// newBackend returns one for all kinds of locks.
func newBackend(store *remote.Store) lockdriver.Backend {
	return &backend{Backend: remote.NewBackend(store, label), texts: newTexts(store.Layout.Table)}
}

// newDialect returns what sets the database apart.
func newDialect(string) remote.Dialect {
	return remote.Dialect{
		Kind: sqlkind.MySQL, Classify: errorClass, IsMissing: isMissing, IsDenied: isDenied,
		LeftNothing: leftNothing, ReadsOnly: readsOnly,
		Refuses: mangles, Prepares: true, Alone: migrateAlone,
		// Else the rows of a second name would be read as of before it was had.
		Begin:        []string{"SET TRANSACTION ISOLATION LEVEL READ COMMITTED", begin},
		BeginReading: []string{"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", begin},
		Commit:       commit,
	}
}

// mangles refuses a connection that would make one name of several: the server turns all that it is told into the
// characters of character_set_connection, and what is not among these into question marks.
func mangles(ctx context.Context, q rows.Querier) error {
	var client, connection string
	found, err := q.QueryContext(ctx, "SELECT @@character_set_client, @@character_set_connection")
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		if err := found.Scan(&client, &connection); err != nil {
			return err
		}
	}
	same := client == connection || connection == "binary" ||
		connection == "utf8mb4" && strings.HasPrefix(client, "utf8")
	if err := found.Err(); err != nil || same {
		return err
	}
	return fmt.Errorf("%w: character_set_connection is %s and character_set_client is %s, so different names of locks "+
		"would be the same: leave out collation_connection, also where the server's init_connect sets it, or have "+
		"it be one of %s", lockdriver.ErrRefused, connection, client, client)
}

// migrateAlone runs fn: the server makes one table at a time, and each once. What is written has to be committed, also
// where that is not done by itself.
func migrateAlone(ctx context.Context, db *sql.DB, fn func(rows.Querier) error) error {
	tx, err := remote.Begin(ctx, db, begin)
	if err != nil {
		return err
	}
	defer tx.RollBack(ctx) // of no effect after the commit
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit(ctx, commit)
}

// errorClass says what an error means.
func errorClass(err error) sqlkind.Class {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return sqlkind.OfMySQL(e.Number)
	}
	if errors.Is(err, mysql.ErrPktTooLarge) {
		return sqlkind.TooLarge
	}
	_, network := errors.AsType[net.Error](err)
	if network || errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) ||
		errors.Is(err, sql.ErrConnDone) {
		return sqlkind.Broken
	}
	return sqlkind.Refused
}

func isMissing(err error) bool {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && sqlkind.NoTableInMySQL(e.Number)
}

// isDenied reports whether an account may not do something.
func isDenied(err error) bool {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && sqlkind.DeniedByMySQL(e.Number)
}

// leftNothing reports whether nothing has happened for certain.
func leftNothing(err error) bool {
	return isAnswer(err) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || isDialing(err)
}

// isAnswer reports whether the server has said that a statement failed. One that was killed may have been carried out.
func isAnswer(err error) bool {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && (sqlkind.OfMySQL(e.Number) != sqlkind.Broken || sqlkind.ReadOnlyInMySQL(e.Number))
}

// readsOnly says by which settings the server takes no writes.
func readsOnly(ctx context.Context, db *sql.DB) (string, error) {
	found, err := db.QueryContext(ctx, "SHOW VARIABLES WHERE Variable_name IN ('read_only', 'innodb_read_only', "+
		"'tx_read_only', 'transaction_read_only') AND Value NOT IN ('OFF', '0')")
	if err != nil {
		return "", err
	}
	defer found.Close()
	var settings []string
	for found.Next() {
		var name, value string
		if err := found.Scan(&name, &value); err != nil {
			return "", err
		}
		settings = append(settings, name+" is "+value)
	}
	return strings.Join(settings, ", "), found.Err()
}

// backend implements the driver interfaces on a database.
type backend struct {
	remote.Backend

	texts texts
	// commits is whether statements are committed by themselves: 0 as long as nobody knows, 1 if not.
	commits atomic.Int32
}

var (
	_ lockdriver.Backend    = (*backend)(nil)
	_ lockdriver.Checker    = (*backend)(nil)
	_ lockdriver.Identifier = (*backend)(nil)
)

// Close implements [lockdriver.Backend].
func (b *backend) Close() error {
	b.Store.Close()
	return nil
}

// isDialing reports whether no connection could be made.
func isDialing(err error) bool {
	e, ok := errors.AsType[*net.OpError](err)
	return ok && e.Op == "dial"
}
