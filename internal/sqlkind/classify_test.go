package sqlkind_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	lib "modernc.org/sqlite/lib"

	"github.com/bedrock-go/bedrock/internal/sqlkind"
)

// sqliteError is as that of the driver, which makes its own only.
type sqliteError int

func (e sqliteError) Error() string { return fmt.Sprintf("sqlite: (%d)", int(e)) }
func (e sqliteError) Code() int     { return int(e) }

// TestErrorIsOfAnotherClass: drivers' errors are recognised without their drivers.
func TestErrorIsOfAnotherClass(t *testing.T) {
	state := [5]byte{'4', '0', '0', '0', '1'}
	for _, tt := range []struct {
		kind sqlkind.Kind
		err  error
		want sqlkind.Class
	}{
		{sqlkind.MySQL, &mysql.MySQLError{Number: 1213, SQLState: state, Message: "Deadlock"}, sqlkind.Deadlocked},
		{sqlkind.MySQL, &mysql.MySQLError{Number: 1213, Message: "Deadlock found"}, sqlkind.Deadlocked},
		{sqlkind.MySQL, fmt.Errorf("Error while at it: %w", &mysql.MySQLError{Number: 1213}), sqlkind.Deadlocked},
		{sqlkind.MySQL, &mysql.MySQLError{Number: 1020, Message: "Record has changed"}, sqlkind.Deadlocked},
		{sqlkind.MySQL, &mysql.MySQLError{Number: 1205, Message: "Lock wait timeout exceeded"}, sqlkind.Busy},
		{sqlkind.MySQL, &mysql.MySQLError{Number: 1062}, sqlkind.Duplicate},
		{sqlkind.MySQL, &mysql.MySQLError{Number: 1153}, sqlkind.TooLarge},
		{sqlkind.MySQL, &mysql.MySQLError{Number: 1406}, sqlkind.TooLarge},
		{sqlkind.MySQL, &mysql.MySQLError{Number: 1053}, sqlkind.Broken},
		{sqlkind.MySQL, &mysql.MySQLError{Number: 1290}, sqlkind.Broken},
		{sqlkind.MySQL, &mysql.MySQLError{Number: 1040, Message: "Too many connections"}, sqlkind.Broken},
		{sqlkind.MySQL, &mysql.MySQLError{Number: 1969, Message: "max_statement_time exceeded"}, sqlkind.Broken},
		{sqlkind.MySQL, &mysql.MySQLError{Number: 1064}, sqlkind.Refused},
		{sqlkind.MySQL, errors.New("deadlock"), sqlkind.Refused},
		{sqlkind.Postgres, &pgconn.PgError{Code: "40P01"}, sqlkind.Deadlocked},
		{sqlkind.Postgres, &pgconn.PgError{Code: "40001"}, sqlkind.Deadlocked},
		{sqlkind.Postgres, &pgconn.PgError{Code: "55P03"}, sqlkind.Busy},
		{sqlkind.Postgres, &pgconn.PgError{Code: "23505"}, sqlkind.Duplicate},
		{sqlkind.Postgres, &pgconn.PgError{Code: "25P03"}, sqlkind.Broken},
		{sqlkind.Postgres, &pgconn.PgError{Code: "25006", Message: "read-only transaction"}, sqlkind.Broken},
		{sqlkind.Postgres, &pgconn.PgError{Code: "57P01"}, sqlkind.Broken},
		{sqlkind.Postgres, &pgconn.PgError{Code: "08006"}, sqlkind.Broken},
		{sqlkind.Postgres, &pgconn.PgError{Code: "53300"}, sqlkind.Broken},
		{sqlkind.Postgres, &pgconn.PgError{Code: "42601"}, sqlkind.Refused},
		{sqlkind.Postgres, &pgconn.PgError{Code: "5"}, sqlkind.Refused},
		{sqlkind.Postgres, errors.New("Error 1213"), sqlkind.Refused},
		{sqlkind.SQLite, sqliteError(lib.SQLITE_BUSY), sqlkind.Busy},
		{sqlkind.SQLite, sqliteError(lib.SQLITE_BUSY_SNAPSHOT), sqlkind.Busy},
		{sqlkind.SQLite, sqliteError(lib.SQLITE_LOCKED), sqlkind.Busy},
		{sqlkind.SQLite, sqliteError(lib.SQLITE_CONSTRAINT_PRIMARYKEY), sqlkind.Duplicate},
		{sqlkind.SQLite, sqliteError(lib.SQLITE_IOERR_FSYNC), sqlkind.Broken},
		{sqlkind.SQLite, sqliteError(lib.SQLITE_FULL), sqlkind.Broken},
		{sqlkind.SQLite, sqliteError(lib.SQLITE_CANTOPEN), sqlkind.Broken},
		{sqlkind.SQLite, sqliteError(lib.SQLITE_READONLY), sqlkind.Broken},
		{sqlkind.SQLite, sqliteError(lib.SQLITE_ERROR), sqlkind.Refused},
	} {
		if got := tt.kind.Classify(fmt.Errorf("barrier: enter: %w", tt.err)); got != tt.want {
			t.Errorf("%s: %v: %d, want %d", tt.kind, tt.err, got, tt.want)
		}
		if tt.kind.Classify(nil) != sqlkind.Refused {
			t.Errorf("%s: no error has a class", tt.kind)
		}
	}
}

// TestParametersAreMixedUp: each has its number where the database wants one.
func TestParametersAreMixedUp(t *testing.T) {
	query := "UPDATE t SET a = ?, b = ? WHERE id IN (" + sqlkind.Marks(3) + ")"
	for kind, want := range map[sqlkind.Kind]string{
		sqlkind.MySQL:    "UPDATE t SET a = ?, b = ? WHERE id IN (?, ?, ?)",
		sqlkind.SQLite:   "UPDATE t SET a = ?, b = ? WHERE id IN (?, ?, ?)",
		sqlkind.Postgres: "UPDATE t SET a = $1, b = $2 WHERE id IN ($3, $4, $5)",
	} {
		if got := kind.Place(query); got != want || !kind.Known() {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	if sqlkind.Kind("oracle").Known() || sqlkind.Marks(0) != "" {
		t.Error("an unknown kind is known, or there are marks for nothing")
	}
}
