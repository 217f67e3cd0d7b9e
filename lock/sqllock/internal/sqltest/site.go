// Package sqltest is what the tests of locks in databases with a server have in common.
package sqltest

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql" // a driver
	_ "github.com/jackc/pgx/v5/stdlib" // a driver

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// Database is where a site keeps its locks, unless a test has one of its own.
const Database = "locks"

// server is what the servers of all databases can do.
type server interface {
	Addr() string
	DSN(database string) string
	CreateDatabase(name string)
	Freeze()
	Thaw()
	Restart()
}

// Site is a server with a database.
type Site struct {
	server

	driver string // as package sql calls it
	// breakAll breaks every connection to the database but that.
	breakAll func(t testing.TB, admin *sql.DB)
	main     string // the database that is always there
}

// MariaDB starts a server.
func MariaDB(t testing.TB, args ...string) *Site {
	t.Helper()
	s := &Site{
		server: testenv.StartMariaDB(t, &testenv.MariaDBOptions{Args: args}),
		driver: "mysql", main: "mysql", breakAll: killMariaDB,
	}
	s.CreateDatabase(Database)
	return s
}

// Postgres starts a server.
func Postgres(t testing.TB, args ...string) *Site {
	t.Helper()
	s := &Site{
		server: testenv.StartPostgres(t, &testenv.PostgresOptions{Args: args}),
		driver: "pgx", main: "postgres", breakAll: killPostgres,
	}
	s.CreateDatabase(Database)
	return s
}

func killMariaDB(t testing.TB, admin *sql.DB) {
	t.Helper()
	var ids sql.NullString
	const which = "SELECT group_concat(id) FROM information_schema.processlist WHERE db = '" + Database + "'"
	err := admin.QueryRowContext(context.Background(), which).Scan(&ids)
	if err != nil {
		t.Error(err)
	}
	for id := range strings.SplitSeq(ids.String, ",") {
		_, _ = admin.ExecContext(context.Background(), "KILL "+id) // it may have gone by itself
	}
}

func killPostgres(t testing.TB, admin *sql.DB) {
	t.Helper()
	_, err := admin.ExecContext(context.Background(),
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+Database+"'")
	if err != nil {
		t.Error(err)
	}
}

// Disconnect breaks every connection to the site's database.
func (s *Site) Disconnect(t testing.TB) {
	t.Helper()
	db, err := sql.Open(s.driver, s.DSN(s.main))
	if err != nil {
		t.Error(err)
		return
	}
	defer db.Close()
	s.breakAll(t, db)
}

// Connect opens a pool.
func (s *Site) Connect(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(s.driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(10)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Fresh makes a database for a test, which is called as the test is, and returns where it is.
func (s *Site) Fresh(t testing.TB) (dsn string) {
	t.Helper()
	name := strings.ToLower(t.Name()[strings.LastIndex(t.Name(), "/")+1:])
	s.CreateDatabase(name)
	return s.DSN(name)
}

// Execute runs statements.
func (s *Site) Execute(t testing.TB, dsn string, statements ...string) {
	t.Helper()
	db := s.Connect(t, dsn)
	for _, text := range statements {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// Backend opens a backend that is closed with the pool, unless the test closes it.
func (s *Site) Backend(
	t testing.TB, dsn string, open func(*sql.DB) (driver.Backend, error),
) driver.Backend {
	t.Helper()
	b, err := open(s.Connect(t, dsn))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
