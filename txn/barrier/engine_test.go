package barrier_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
)

// engine is a database with a barrier in it, and accounts as business data.
type engine struct {
	db      *sql.DB
	b       *barrier.Barrier
	dialect barrier.Dialect
	layout  barrier.Layout
	crash   func(t *testing.T) // kills the database and brings it back; nil if it has no process

	accounts atomic.Int64
}

// native reports whether the layout keeps results and refusals.
func (e *engine) native() bool { return e.layout == barrier.Native }

func TestSQLite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "business.db")
	suite(t, open(t, "sqlite", sqliteDSN(path), barrier.SQLite, barrier.Native))
}

func sqliteDSN(path string) string {
	return "file:" + path + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)"
}

func TestMariaDB(t *testing.T) {
	t.Parallel()
	s := testenv.StartMariaDB(t, nil)
	for i, layout := range layouts() {
		t.Run(string(layout), func(t *testing.T) {
			name := fmt.Sprintf("business%d", i)
			s.CreateDatabase(name)
			// clientFoundRows changes what the server says of rows it did not change.
			e := open(t, "mysql", s.DSN(name)+"&clientFoundRows=true", barrier.MySQL, layout)
			e.crash = func(*testing.T) { s.Kill(); s.Restart(); e.forget() }
			suite(t, e)
		})
	}
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	s := testenv.StartPostgres(t, nil)
	for i, layout := range layouts() {
		t.Run(string(layout), func(t *testing.T) {
			name := fmt.Sprintf("business%d", i)
			s.CreateDatabase(name)
			e := open(t, "pgx", s.DSN(name), barrier.Postgres, layout)
			e.crash = func(*testing.T) { s.Kill(); s.Restart(); e.forget() }
			suite(t, e)
		})
	}
}

func layouts() []barrier.Layout { return []barrier.Layout{barrier.Native, barrier.DTM} }

// suite is everything a barrier must do on every database.
func suite(t *testing.T, e *engine) {
	t.Helper()
	tests := []struct {
		name string
		test func(*testing.T, *engine)
	}{
		{"verdicts", testVerdicts},
		{"refusals", testRefusals},
		{"errors", testErrors},
		{"names", testNames},
		{"results", testResults},
		{"own transaction", testOwnTransaction},
		{"read before", testReadBefore},
		{"functions", testFunctions},
		{"concurrent duplicates", testConcurrentDuplicates},
		{"forward and back at once", testForwardAndBackAtOnce},
		{"retried refusal and back at once", testRetriedRefusalAndBackAtOnce},
		{"messages", testMessages},
		{"local transaction", testLocal},
		{"check waits", testCheckWaits},
		{"check and commit at once", testCheckAndCommitAtOnce},
		{"own table", testOwnTable},
		{"clean", testClean},
		{"dtm", testDTM},
		{"crash", testCrash},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, e) })
	}
}

// idle is how many connections wait for work.
const idle = 16

func open(t *testing.T, driver, dsn string, d barrier.Dialect, layout barrier.Layout) *engine {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxIdleConns(idle) // or most of the time goes into new connections
	t.Cleanup(func() { db.Close() })
	b, err := barrier.New(db, d, &barrier.Options{Layout: layout})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time finds everything there
		if err := b.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	e := &engine{db: db, b: b, dialect: d, layout: layout}
	e.exec(t, "CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL)")
	return e
}

// forget closes the connections nobody uses. After a crash they are dead, and pgx
// looks at those only that have been idle for a second.
func (e *engine) forget() {
	e.db.SetMaxIdleConns(-1)
	e.db.SetMaxIdleConns(idle)
}

// exec runs a statement; question marks stand for arguments on every database.
func (e *engine) exec(t *testing.T, query string, args ...any) {
	t.Helper()
	if _, err := e.db.ExecContext(t.Context(), e.place(query), args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func (e *engine) place(query string) string {
	if e.dialect != barrier.Postgres {
		return query
	}
	for n := 1; strings.Contains(query, "?"); n++ {
		query = strings.Replace(query, "?", fmt.Sprintf("$%d", n), 1)
	}
	return query
}

// table is where the marks are.
func (e *engine) table() string {
	if e.native() {
		return "bedrock_barrier"
	}
	return "dtm_barrier.barrier"
}

// account is a business row of one test, with nothing on it.
type account struct {
	e  *engine
	id int64
}

func (e *engine) account(t *testing.T) account {
	t.Helper()
	a := account{e, e.accounts.Add(1)}
	e.exec(t, "INSERT INTO account VALUES (?, 0)", a.id)
	return a
}

// add is work that changes the balance and returns a result.
func (a account) add(amount int, result string) barrier.Work {
	return func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		_, err := tx.ExecContext(ctx, a.e.place("UPDATE account SET balance = balance + ? WHERE id = ?"), amount, a.id)
		return []byte(result), err
	}
}

// then is work that fails after it has done something.
func then(work barrier.Work, err error) barrier.Work {
	return func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		if _, workErr := work(ctx, tx); workErr != nil {
			return nil, workErr
		}
		return nil, err
	}
}

func (a account) want(t *testing.T, balance int) {
	t.Helper()
	if got := a.e.balance(t, a); got != balance {
		t.Errorf("balance = %d, want %d", got, balance)
	}
}

func (e *engine) balance(t *testing.T, a account) (balance int) {
	t.Helper()
	query := e.place("SELECT balance FROM account WHERE id = ?")
	if err := e.db.QueryRowContext(t.Context(), query, a.id).Scan(&balance); err != nil {
		t.Fatal(err)
	}
	return balance
}

// do runs a call and checks what comes out. Results count where they are kept.
func (e *engine) do(t *testing.T, call txn.Call, work barrier.Work, want barrier.Verdict, result string) {
	t.Helper()
	got, v, err := e.b.Do(t.Context(), call, work)
	refused := want == barrier.Refused || want == barrier.Hanging
	if v != want || txn.Aborted(err) != refused || (err != nil) != refused {
		t.Fatalf("%s %s: %v, %v; want %v", call.Transaction, call.Op, v, err, want)
	}
	if v == barrier.Duplicate && !e.native() {
		result = ""
	}
	if string(got) != result {
		t.Errorf("%s %s: result %.40q, want %.40q", call.Transaction, call.Op, got, result)
	}
}

// id names a transaction of a test.
func id(t *testing.T, suffix string) string {
	t.Helper()
	return strings.ReplaceAll(t.Name(), "/", ":") + ":" + suffix
}

func call(transaction, op string) txn.Call {
	return txn.Call{Transaction: transaction, Branch: "pay", Op: op, Mode: "saga", Attempt: 1, Epoch: 1}
}
