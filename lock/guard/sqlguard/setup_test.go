package sqlguard_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"go.uber.org/goleak"
	_ "modernc.org/sqlite"

	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/internal/guardtest"
	"github.com/bedrock-go/bedrock/lock/guard/sqlguard"
)

func TestMain(m *testing.M) {
	guardtest.PlayHolder(openWriter)
	goleak.VerifyTestMain(m)
}

// engine is a database with a guard in it.
type engine struct {
	db      *sql.DB
	g       *sqlguard.Guard
	dialect sqlguard.Dialect
	driver  string
	dsn     string
	levels  map[string]sql.IsolationLevel
}

func openEngine(driver, dsn string, d sqlguard.Dialect) (*engine, error) {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(16)
	g, err := sqlguard.New(db, d, nil)
	return &engine{db: db, g: g, dialect: d, driver: driver, dsn: dsn}, err
}

func newEngine(t *testing.T, driver, dsn string, d sqlguard.Dialect) *engine {
	t.Helper()
	e, err := openEngine(driver, dsn, d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.db.Close() })
	for range 2 { // the second time finds everything there
		if err := e.g.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	e.exec(t, "CREATE TABLE orders (id VARCHAR(300) PRIMARY KEY, status VARCHAR(99), fence BIGINT NOT NULL DEFAULT 0)")
	e.exec(t, "CREATE TABLE entry (race VARCHAR(99), n BIGINT, token BIGINT, PRIMARY KEY (race, n))")
	e.levels = map[string]sql.IsolationLevel{"default": sql.LevelDefault}
	if d != sqlguard.SQLite {
		e.levels["read uncommitted"] = sql.LevelReadUncommitted
		e.levels["read committed"] = sql.LevelReadCommitted
		e.levels["repeatable read"] = sql.LevelRepeatableRead
		e.levels["serializable"] = sql.LevelSerializable
	}
	return e
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data.db")
	dsn := "file:" + path + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)"
	suite(t, newEngine(t, "sqlite", dsn, sqlguard.SQLite))
}

func TestMariaDB(t *testing.T) {
	t.Parallel()
	s := testenv.StartMariaDB(t, nil)
	for name, parameter := range map[string]string{
		"plain": "", "found": "&clientFoundRows=true", "snapshots": "&innodb_snapshot_isolation=ON",
	} {
		t.Run(name, func(t *testing.T) {
			s.CreateDatabase(name)
			suite(t, newEngine(t, "mysql", s.DSN(name)+parameter, sqlguard.MySQL))
		})
	}
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	s := testenv.StartPostgres(t, nil)
	s.CreateDatabase("data")
	suite(t, newEngine(t, "pgx", s.DSN("data"), sqlguard.Postgres))
	t.Run("serializable by default", func(t *testing.T) {
		s.CreateDatabase("strict")
		const strict = "default_transaction_isolation=serializable"
		dsn := s.DSN("strict")
		if strings.Contains(dsn, "?") {
			dsn += "&" + strict
		} else {
			dsn += "?" + strict
		}
		testAtOnce(t, newEngine(t, "pgx", dsn, sqlguard.Postgres))
	})
}

// suite is everything a guard must do on every database.
func suite(t *testing.T, e *engine) {
	t.Helper()
	for _, tt := range []struct {
		name string
		test func(*testing.T, *engine)
	}{
		{"rule", testRule},
		{"names", testNames},
		{"roll back", testRollBack},
		{"nobody comes between", testNobodyComesBetween},
		{"read before", testReadBefore},
		{"snapshot is older", testSnapshotIsOlder},
		{"two names", testTwoNames},
		{"announced at once", testAtOnce},
		{"race", testRace},
		{"column", testColumn},
		{"column race", testColumnRace},
		{"refusals are told", testRefusalsAreTold},
		{"paused", testPaused},
		{"paused column", testPausedColumn},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, e) })
	}
}

// exec runs a statement; question marks stand for arguments on every database.
func (e *engine) exec(t *testing.T, query string, args ...any) {
	t.Helper()
	if _, err := e.db.ExecContext(t.Context(), e.place(query), args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func (e *engine) place(query string) string { return sqlkind.Kind(e.dialect).Place(query) }

// in runs f in a transaction and commits it if there is no error.
func (e *engine) in(ctx context.Context, level sql.IsolationLevel, f func(tx *sql.Tx) error) error {
	tx, err := e.db.BeginTx(ctx, &sql.TxOptions{Isolation: level})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// check is a transaction that only checks.
func (e *engine) check(ctx context.Context, ticket guard.Ticket) error {
	return e.in(ctx, sql.LevelDefault, func(tx *sql.Tx) error { return e.g.Check(ctx, tx, ticket) })
}

// repeatable reports whether the database has rolled a transaction back for the sake of others.
func (e *engine) repeatable(err error) bool {
	return sqlkind.Kind(e.dialect).Classify(err).Collided()
}

// wantStale wants a refusal that knows the newest token.
func wantStale(t *testing.T, err error, token, newest uint64) {
	t.Helper()
	stale, ok := errors.AsType[*guard.StaleError](err)
	if !ok || stale.Token != token || stale.Newest != newest || !errors.Is(err, guard.ErrStale) {
		t.Errorf("token %d: %v, want a refusal that knows %d", token, err, newest)
	}
}

func mustAccept(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// orders is a writer to one order.
type orders struct {
	*engine

	id     string
	column *sqlguard.Column // nil where the table of the guard is used
}

// openWriter opens what another process writes to.
func openWriter(_ context.Context, where []string) (guardtest.Writer, error) {
	e, err := openEngine(where[0], where[1], sqlguard.Dialect(where[2]))
	if err != nil {
		return nil, err
	}
	o := orders{engine: e, id: where[3]}
	if where[4] == "column" {
		o.column, err = sqlguard.NewColumn(e.dialect, &sqlguard.ColumnOptions{Table: "orders"})
	}
	return o, err
}

func (o orders) Announce(ctx context.Context, t guard.Ticket) error {
	if o.column != nil {
		return o.column.Announce(ctx, o.db, t, o.id)
	}
	return o.g.Announce(ctx, t)
}

func (o orders) Write(ctx context.Context, t guard.Ticket, value string) error {
	return o.in(ctx, sql.LevelDefault, func(tx *sql.Tx) error {
		if o.column == nil {
			if err := o.g.Check(ctx, tx, t); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, o.place("UPDATE orders SET status = ? WHERE id = ?"), value, o.id)
			return err
		}
		result, err := o.update(ctx, tx, t.Token, o.id, value)
		if err != nil {
			return err
		}
		return o.column.Check(ctx, tx, t, o.id, result)
	})
}

// resource makes an order.
func (e *engine) resource(kind string) func(t *testing.T) guardtest.Resource {
	return func(t *testing.T) guardtest.Resource {
		t.Helper()
		where := []string{e.driver, e.dsn, string(e.dialect), t.Name(), kind}
		e.exec(t, "INSERT INTO orders (id, status) VALUES (?, 'new')", t.Name())
		w, err := openWriter(t.Context(), where)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.(orders).db.Close() })
		return guardtest.Resource{Writer: w, Where: where, Value: func(t *testing.T) string {
			t.Helper()
			return e.text(t, "SELECT status FROM orders WHERE id = ?", t.Name())
		}}
	}
}

// text reads one value.
func (e *engine) text(t *testing.T, query string, args ...any) string {
	t.Helper()
	var value any
	if err := e.db.QueryRowContext(t.Context(), e.place(query), args...).Scan(&value); err != nil {
		t.Fatal(err)
	}
	if b, ok := value.([]byte); ok {
		value = string(b)
	}
	return fmt.Sprint(value)
}

func testPaused(t *testing.T, e *engine) { guardtest.PausedHolderWrites(t, e.resource("table")) }

func testPausedColumn(t *testing.T, e *engine) { guardtest.PausedHolderWrites(t, e.resource("column")) }
