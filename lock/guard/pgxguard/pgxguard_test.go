package pgxguard_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/sqlkind"
	"github.com/bedrock-go/bedrock/internal/testenv"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/internal/guardtest"
	"github.com/bedrock-go/bedrock/lock/guard/pgxguard"
)

func TestMain(m *testing.M) {
	guardtest.PlayHolder(openWriter)
	goleak.VerifyTestMain(m)
}

// engine is a database with a guard in it.
type engine struct {
	dsn  string
	pool *pgxpool.Pool
	g    *pgxguard.Guard
	told *watcher
}

// watcher counts the events it is told.
type watcher struct{ refused atomic.Int64 }

func (w *watcher) Observe(_ context.Context, e lock.Event) {
	if e.Kind == lock.EventRefused {
		w.refused.Add(1)
	}
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	s := testenv.StartPostgres(t, nil)
	s.CreateDatabase("data")
	pool, err := pgxpool.New(t.Context(), s.DSN("data"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	e := &engine{dsn: s.DSN("data"), pool: pool, told: &watcher{}}
	if e.g, err = pgxguard.New(pool, &pgxguard.Options{Observer: e.told}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time finds everything there
		mustAccept(t, e.g.Migrate(t.Context()))
	}
	e.exec(t, "CREATE TABLE orders (id TEXT PRIMARY KEY, status TEXT, fence BIGINT NOT NULL DEFAULT 0)")
	e.exec(t, "CREATE TABLE entry (race TEXT, n BIGINT, token BIGINT, PRIMARY KEY (race, n))")
	t.Run("rule", e.testRule)
	t.Run("roll back", e.testRollBack)
	t.Run("nobody comes between", e.testNobodyComesBetween)
	t.Run("read before", e.testReadBefore)
	t.Run("race", e.testRace)
	t.Run("column", e.testColumn)
	t.Run("encodings", e.testEncodings)
	t.Run("paused", func(t *testing.T) { guardtest.PausedHolderWrites(t, e.resource("table")) })
	t.Run("paused column", func(t *testing.T) { guardtest.PausedHolderWrites(t, e.resource("column")) })
}

func (e *engine) exec(t *testing.T, query string, args ...any) {
	t.Helper()
	if _, err := e.pool.Exec(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

func ticket(t *testing.T, token uint64) guard.Ticket {
	t.Helper()
	return guard.Ticket{Name: t.Name(), Token: token}
}

func mustAccept(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func wantStale(t *testing.T, err error, token, newest uint64) {
	t.Helper()
	stale, ok := errors.AsType[*guard.StaleError](err)
	if !ok || stale.Token != token || stale.Newest != newest {
		t.Errorf("token %d: %v, want a refusal that knows %d", token, err, newest)
	}
}

// in runs f in a transaction, and commits it if there is no error.
func (e *engine) in(ctx context.Context, level pgx.TxIsoLevel, f func(tx pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, e.pool, pgx.TxOptions{IsoLevel: level}, f)
}

func (e *engine) check(ctx context.Context, ticket guard.Ticket) error {
	return e.in(ctx, "", func(tx pgx.Tx) error { return e.g.Check(ctx, tx, ticket) })
}

func repeatable(err error) bool { return sqlkind.Postgres.Classify(err).Collided() }

// testEncodings has connections take texts for those of several encodings: of one name they have one row.
func (e *engine) testEncodings(t *testing.T) {
	const newest = 5
	shown := guard.Ticket{Name: "z\u00e4hler \U0001f600", Token: newest}
	mustAccept(t, e.check(t.Context(), shown))
	shown.Token--
	for _, encoding := range []string{"UTF8", "LATIN1", "SQL_ASCII"} {
		err := e.in(t.Context(), "", func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), "SET LOCAL client_encoding = '"+encoding+"'"); err != nil {
				return err
			}
			wantStale(t, e.g.Check(t.Context(), tx, shown), shown.Token, newest)
			return nil
		})
		mustAccept(t, err)
	}
}

func (e *engine) testRule(t *testing.T) {
	before := e.told.refused.Load()
	for _, step := range []struct{ token, newest uint64 }{
		{5, 0}, {5, 0}, {4, 5}, {7, 0}, {6, 7}, {driver.MaxToken, 0}, {driver.MaxToken - 1, driver.MaxToken},
	} {
		shown := ticket(t, step.token)
		announced, checked := e.g.Announce(t.Context(), shown), e.check(t.Context(), shown)
		if step.newest > 0 {
			wantStale(t, announced, step.token, step.newest)
			wantStale(t, checked, step.token, step.newest)
		} else {
			mustAccept(t, errors.Join(announced, checked))
		}
	}
	if told := e.told.refused.Load() - before; told != 6 {
		t.Errorf("%d refusals were told", told)
	}
}

func (e *engine) testRollBack(t *testing.T) {
	mustAccept(t, e.g.Announce(t.Context(), ticket(t, 3)))
	undone := errors.New("undone")
	err := e.in(t.Context(), "", func(tx pgx.Tx) error {
		mustAccept(t, e.g.Check(t.Context(), tx, ticket(t, 9)))
		return undone
	})
	if !errors.Is(err, undone) {
		t.Error(err)
	}
	mustAccept(t, e.check(t.Context(), ticket(t, 4)))
	wantStale(t, e.check(t.Context(), ticket(t, 3)), 3, 4)
}

func (e *engine) testNobodyComesBetween(t *testing.T) {
	mustAccept(t, e.in(t.Context(), "", func(tx pgx.Tx) error {
		mustAccept(t, e.g.Check(t.Context(), tx, ticket(t, 5)))
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if err := e.g.Announce(ctx, ticket(t, 6)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a newer one before the commit: %v", err)
		}
		return nil
	}))
	mustAccept(t, e.g.Announce(t.Context(), ticket(t, 6)))
	wantStale(t, e.check(t.Context(), ticket(t, 5)), 5, 6)
}

// testReadBefore: see package sqlguard.
func (e *engine) testReadBefore(t *testing.T) {
	for _, level := range []pgx.TxIsoLevel{pgx.RepeatableRead, pgx.Serializable} {
		name := guard.Ticket{Name: t.Name() + string(level)}
		older, newer := guard.Ticket{Name: name.Name, Token: 5}, guard.Ticket{Name: name.Name, Token: 6}
		mustAccept(t, e.g.Announce(t.Context(), older))
		err := e.in(t.Context(), level, func(tx pgx.Tx) error {
			var n int
			if err := tx.QueryRow(t.Context(), "SELECT COUNT(*) FROM entry").Scan(&n); err != nil {
				return err
			}
			mustAccept(t, e.in(t.Context(), level, func(tx pgx.Tx) error {
				return e.appendEntry(t.Context(), tx, older)
			}))
			return e.g.Check(t.Context(), tx, newer)
		})
		if !repeatable(err) {
			t.Errorf("%s: the check after a read that is out of date: %v", level, err)
		}
	}
}

func (e *engine) testRace(t *testing.T) {
	for _, level := range []pgx.TxIsoLevel{pgx.ReadCommitted, pgx.RepeatableRead, pgx.Serializable} {
		t.Run(string(level), func(t *testing.T) {
			guardtest.Contest{
				Announce: e.g.Announce,
				Append: func(ctx context.Context, ticket guard.Ticket) error {
					return e.in(ctx, level, func(tx pgx.Tx) error { return e.appendEntry(ctx, tx, ticket) })
				},
				Repeatable: repeatable,
				Entries:    e.entries,
			}.Run(t)
		})
	}
}

// appendEntry checks, reads and writes.
func (e *engine) appendEntry(ctx context.Context, tx pgx.Tx, ticket guard.Ticket) error {
	if err := e.g.Check(ctx, tx, ticket); err != nil {
		return err
	}
	var n int
	if err := tx.QueryRow(ctx, "SELECT COUNT(*) FROM entry WHERE race = $1", ticket.Name).Scan(&n); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "INSERT INTO entry VALUES ($1, $2, $3)", ticket.Name, n+1, ticket.Token)
	return err
}

func (e *engine) entries(t *testing.T) []uint64 {
	t.Helper()
	rows, err := e.pool.Query(t.Context(), "SELECT token FROM entry WHERE race = $1 ORDER BY n", t.Name())
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := pgx.CollectRows(rows, pgx.RowTo[uint64])
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func (e *engine) testColumn(t *testing.T) {
	c, err := pgxguard.NewColumn(&pgxguard.ColumnOptions{Table: "orders"})
	if err != nil {
		t.Fatal(err)
	}
	e.exec(t, "INSERT INTO orders (id) VALUES ($1)", t.Name())
	mustAccept(t, c.Announce(t.Context(), e.pool, ticket(t, 5), t.Name()))
	mustAccept(t, c.Announce(t.Context(), e.pool, ticket(t, 5), t.Name()))
	wantStale(t, c.Announce(t.Context(), e.pool, ticket(t, 4), t.Name()), 4, 5)
	if err := c.Announce(t.Context(), e.pool, ticket(t, 6), "other"); !errors.Is(err, pgxguard.ErrNoRow) ||
		!strings.HasPrefix(err.Error(), "pgxguard: announce ") {
		t.Error(err)
	}
}

func TestWrongInput(t *testing.T) {
	t.Parallel()
	pool, err := pgxpool.New(t.Context(), "postgres://127.0.0.1:1/nowhere")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	g, err := pgxguard.New(pool, nil)
	if err != nil {
		t.Fatal(err)
	}
	for want, got := range map[string]error{
		"name":  g.Announce(t.Context(), guard.Ticket{Token: 1}),
		"token": g.Announce(t.Context(), guard.Ticket{Name: "a"}),
		"tx":    g.Check(t.Context(), nil, guard.Ticket{Name: "a", Token: 1}),
		"db":    second(pgxguard.New(nil, nil)),
		"table": second(pgxguard.New(pool, &pgxguard.Options{Table: "a b"})),
		"key":   second(pgxguard.NewColumn(&pgxguard.ColumnOptions{Table: "a", Key: "b c"})),
	} {
		if wrong, ok := errors.AsType[*input.Error](got); !ok || wrong.Field != want {
			t.Errorf("%s: %v", want, got)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// orders is a writer to one order.
type orders struct {
	*pgxguard.Guard

	pool   *pgxpool.Pool
	id     string
	column *pgxguard.Column // nil where the table of the guard is used
}

func openWriter(ctx context.Context, where []string) (guardtest.Writer, error) {
	pool, err := pgxpool.New(ctx, where[0])
	if err != nil {
		return nil, err
	}
	return newOrders(pool, where)
}

func newOrders(pool *pgxpool.Pool, where []string) (o orders, err error) {
	o = orders{pool: pool, id: where[1]}
	if where[2] == "column" {
		o.column, err = pgxguard.NewColumn(&pgxguard.ColumnOptions{Table: "orders"})
		return o, err
	}
	o.Guard, err = pgxguard.New(pool, nil)
	return o, err
}

func (o orders) Announce(ctx context.Context, t guard.Ticket) error {
	if o.column != nil {
		return o.column.Announce(ctx, o.pool, t, o.id)
	}
	return o.Guard.Announce(ctx, t)
}

func (o orders) Write(ctx context.Context, t guard.Ticket, value string) error {
	return pgx.BeginFunc(ctx, o.pool, func(tx pgx.Tx) error {
		if o.column == nil {
			if err := o.Check(ctx, tx, t); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "UPDATE orders SET status = $1 WHERE id = $2", value, o.id)
			return err
		}
		result, err := tx.Exec(ctx, "UPDATE orders SET status = $1, fence = $2 WHERE id = $3 AND fence <= $2",
			value, t.Token, o.id)
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
		where := []string{e.dsn, t.Name(), kind}
		e.exec(t, "INSERT INTO orders (id, status) VALUES ($1, 'new')", t.Name())
		w, err := newOrders(e.pool, where)
		if err != nil {
			t.Fatal(err)
		}
		return guardtest.Resource{Writer: w, Where: where, Value: func(t *testing.T) (status string) {
			t.Helper()
			err := e.pool.QueryRow(t.Context(), "SELECT status FROM orders WHERE id = $1", t.Name()).Scan(&status)
			mustAccept(t, err)
			return status
		}}
	}
}
