package sqlguard_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/internal/guardtest"
	"github.com/bedrock-go/bedrock/lock/guard/sqlguard"
)

// ticket is one of a name that no other test has.
func ticket(t *testing.T, token uint64) guard.Ticket {
	t.Helper()
	return guard.Ticket{Name: t.Name(), Token: token}
}

func testRule(t *testing.T, e *engine) {
	for _, step := range []struct{ token, newest uint64 }{
		{5, 0},
		{5, 0},
		{4, 5},
		{7, 0},
		{6, 7},
		{5, 7},
		{7, 0},
		{driver.MaxToken, 0},
		{driver.MaxToken - 1, driver.MaxToken},
		{driver.MaxToken, 0},
	} {
		for name, do := range map[string]func(context.Context, guard.Ticket) error{
			"announce": e.g.Announce, "check": e.check,
		} {
			err := do(t.Context(), ticket(t, step.token))
			if step.newest > 0 {
				wantStale(t, err, step.token, step.newest)
			} else if err != nil {
				t.Errorf("%s %d: %v", name, step.token, err)
			}
		}
	}
}

func testNames(t *testing.T, e *engine) {
	names := []string{
		"a", "A", "ä", "a ", " a", "a\u0308", "%", "_", "ä%41", "日本", strings.Repeat("x", driver.MaxName),
		strings.Repeat("é", driver.MaxName/2), strings.Repeat("x", driver.MaxName-1), "'; DROP TABLE orders; --", "𝛼",
	}
	for i, name := range names { // each at a height of its own
		mustAccept(t, e.g.Announce(t.Context(), guard.Ticket{Name: name, Token: uint64(100 - i)}))
	}
	for i, name := range names {
		newest := uint64(100 - i)
		mustAccept(t, e.check(t.Context(), guard.Ticket{Name: name, Token: newest}))
		wantStale(t, e.check(t.Context(), guard.Ticket{Name: name, Token: newest - 1}), newest-1, newest)
	}
}

// testRollBack: what was checked in a transaction that is rolled back was not.
func testRollBack(t *testing.T, e *engine) {
	mustAccept(t, e.g.Announce(t.Context(), ticket(t, 3)))
	tx, err := e.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	mustAccept(t, e.g.Check(t.Context(), tx, ticket(t, 9)))
	mustAccept(t, tx.Rollback())
	mustAccept(t, e.check(t.Context(), ticket(t, 4)))
	wantStale(t, e.check(t.Context(), ticket(t, 3)), 3, 4)
}

// testNobodyComesBetween: from the check to the commit nobody newer is let in, who would read what is about to change.
func testNobodyComesBetween(t *testing.T, e *engine) {
	for name, level := range e.levels {
		for _, known := range []uint64{0, 4, 5} { // the name is new, the token is, or neither
			t.Run(fmt.Sprintf("%s, %d", name, known), func(t *testing.T) {
				if known > 0 {
					mustAccept(t, e.g.Announce(t.Context(), ticket(t, known)))
				}
				newer := ticket(t, 6)
				err := e.in(t.Context(), level, func(tx *sql.Tx) error {
					if err := e.g.Check(t.Context(), tx, ticket(t, 5)); err != nil {
						return err
					}
					ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
					defer cancel()
					if err := e.g.Announce(ctx, newer); err == nil {
						t.Error("a newer one was let in before the commit")
					}
					return nil
				})
				mustAccept(t, err)
				mustAccept(t, e.g.Announce(t.Context(), newer))
				wantStale(t, e.in(t.Context(), level, func(tx *sql.Tx) error {
					return e.g.Check(t.Context(), tx, ticket(t, 5))
				}), 5, 6)
			})
		}
	}
}

// testReadBefore: a transaction that has read before its check, and an older holder's write in between, do not both
// come through where the database keeps to what was read first. The older token is known already: its check must
// leave a trace all the same.
func testReadBefore(t *testing.T, e *engine) {
	for name, level := range e.levels {
		snapshot := e.dialect == sqlguard.SQLite || level == sql.LevelRepeatableRead || level == sql.LevelSerializable
		if !snapshot || e.dialect == sqlguard.MySQL { // which reads the latest, or tells nothing
			continue
		}
		t.Run(name, func(t *testing.T) {
			mustAccept(t, e.g.Announce(t.Context(), ticket(t, 5)))
			err := e.in(t.Context(), level, func(tx *sql.Tx) error {
				var n int
				query := e.place("SELECT COUNT(*) FROM entry WHERE race = ?")
				if err := tx.QueryRowContext(t.Context(), query, t.Name()).Scan(&n); err != nil {
					return err
				}
				mustAccept(t, e.in(t.Context(), level, func(older *sql.Tx) error {
					return e.appendEntry(t.Context(), older, ticket(t, 5))
				}))
				return e.g.Check(t.Context(), tx, ticket(t, 6))
			})
			if !e.repeatable(err) || errors.Is(err, guard.ErrStale) {
				t.Errorf("the check after a read that is out of date: %v", err)
			}
		})
	}
}

// testSnapshotIsOlder: what a transaction saw before a newer one was announced does not let it in.
func testSnapshotIsOlder(t *testing.T, e *engine) {
	c := e.column(t)
	for name, level := range e.levels {
		t.Run(name, func(t *testing.T) {
			e.exec(t, "INSERT INTO orders (id, status) VALUES (?, 'new')", t.Name())
			for kind, do := range map[string][2]func(tx sqlguard.Tx, token uint64) error{
				"table": {
					func(_ sqlguard.Tx, token uint64) error { return e.g.Announce(t.Context(), ticket(t, token)) },
					func(tx sqlguard.Tx, token uint64) error { return e.g.Check(t.Context(), tx, ticket(t, token)) },
				},
				"column": {
					func(tx sqlguard.Tx, token uint64) error {
						return c.Announce(t.Context(), tx, ticket(t, token), t.Name())
					},
					func(tx sqlguard.Tx, token uint64) error {
						return c.Announce(t.Context(), tx, ticket(t, token), t.Name())
					},
				},
			} {
				mustAccept(t, do[0](e.db, 5))
				err := e.in(t.Context(), level, func(tx *sql.Tx) error {
					for _, table := range []string{"bedrock_guard", "orders"} {
						var n int
						query := "SELECT COUNT(*) FROM " + table + e.unlocked(level)
						if err := tx.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
							return err
						}
					}
					mustAccept(t, do[0](e.db, 7))
					return do[1](tx, 6)
				})
				if e.repeatable(err) {
					err = e.in(t.Context(), level, func(tx *sql.Tx) error { return do[1](tx, 6) })
				}
				wantStale(t, err, 6, 7)
				if t.Failed() {
					t.Log(kind)
				}
			}
		})
	}
}

// unlocked makes no difference but at a level where each read locks: then nothing is read.
func (e *engine) unlocked(level sql.IsolationLevel) string {
	if e.dialect == sqlguard.MySQL && level == sql.LevelSerializable {
		return " WHERE 1 = 0"
	}
	return ""
}

// testTwoNames: in one order transactions wait; crosswise one of them is ended and can be repeated.
func testTwoNames(t *testing.T, e *engine) {
	for order, crosswise := range map[string]bool{"one order": false, "crosswise": true} {
		t.Run(order, func(t *testing.T) {
			names := [2]string{t.Name() + "a", t.Name() + "b"}
			outcome := make(chan error, 2)
			for i := range 2 {
				mine := names
				if crosswise && i == 1 {
					mine = [2]string{names[1], names[0]}
				}
				go func() { outcome <- e.checkBoth(t.Context(), mine) }()
			}
			for range 2 {
				mustAccept(t, <-outcome)
			}
		})
	}
}

// checkBoth checks two names in one transaction, many times, and repeats those that the database ends.
func (e *engine) checkBoth(ctx context.Context, names [2]string) error {
	for token := uint64(1); token <= 20; {
		err := e.in(ctx, sql.LevelDefault, func(tx *sql.Tx) error {
			for _, name := range names {
				if err := e.g.Check(ctx, tx, guard.Ticket{Name: name, Token: 1}); err != nil {
					return err
				}
			}
			return nil
		})
		switch {
		case err == nil:
			token++
		case !e.repeatable(err):
			return err
		}
	}
	return nil
}

// testAtOnce: announcements that meet are none of the caller's business, whatever the database makes of them.
func testAtOnce(t *testing.T, e *engine) {
	outcome := make(chan error)
	for i := range 8 {
		go func() {
			var errs []error
			for n := range 10 {
				for k := range 2 { // two names, in turn
					name := fmt.Sprintf("%s/%d", t.Name(), (i+k)%2)
					err := e.g.Announce(t.Context(), guard.Ticket{Name: name, Token: uint64(10*n + i + 1)})
					if !errors.Is(err, guard.ErrStale) {
						errs = append(errs, err)
					}
				}
			}
			outcome <- errors.Join(errs...)
		}()
	}
	for range 8 {
		mustAccept(t, <-outcome)
	}
}

// testRace: at every isolation level.
func testRace(t *testing.T, e *engine) {
	for name, level := range e.levels {
		t.Run(name, func(t *testing.T) {
			guardtest.Contest{
				Announce: e.g.Announce,
				Append: func(ctx context.Context, ticket guard.Ticket) error {
					return e.in(ctx, level, func(tx *sql.Tx) error { return e.appendEntry(ctx, tx, ticket) })
				},
				Repeatable: e.repeatable,
				Entries:    e.entries,
			}.Run(t)
		})
	}
}

// appendEntry checks, reads and writes.
func (e *engine) appendEntry(ctx context.Context, tx *sql.Tx, ticket guard.Ticket) error {
	if err := e.g.Check(ctx, tx, ticket); err != nil {
		return err
	}
	return e.addEntry(ctx, tx, ticket)
}

// addEntry reads how many there are, and adds one.
func (e *engine) addEntry(ctx context.Context, tx *sql.Tx, ticket guard.Ticket) error {
	var n int
	err := tx.QueryRowContext(ctx, e.place("SELECT COUNT(*) FROM entry WHERE race = ?"), ticket.Name).Scan(&n)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, e.place("INSERT INTO entry VALUES (?, ?, ?)"), ticket.Name, n+1, ticket.Token)
	return err
}

func (e *engine) entries(t *testing.T) (tokens []uint64) {
	t.Helper()
	rows, err := e.db.QueryContext(t.Context(), e.place("SELECT token FROM entry WHERE race = ? ORDER BY n"), t.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var token uint64
		if err := rows.Scan(&token); err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, token)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return tokens
}

// watcher keeps the events it is told.
type watcher struct{ events []lock.Event }

func (w *watcher) Observe(_ context.Context, e lock.Event) { w.events = append(w.events, e) }

func testRefusalsAreTold(t *testing.T, e *engine) {
	w := &watcher{}
	g, err := sqlguard.New(e.db, e.dialect, &sqlguard.Options{Observer: w})
	if err != nil {
		t.Fatal(err)
	}
	mustAccept(t, g.Announce(t.Context(), ticket(t, 2)))
	wantStale(t, g.Announce(t.Context(), ticket(t, 1)), 1, 2)
	_ = e.in(t.Context(), sql.LevelDefault, func(tx *sql.Tx) error { return g.Check(t.Context(), tx, ticket(t, 1)) })
	if len(w.events) != 2 {
		t.Fatalf("%d events", len(w.events))
	}
	for _, event := range w.events {
		if event.Kind != lock.EventRefused || event.Name != t.Name() || event.Token != 1 {
			t.Errorf("%+v", event)
		}
	}
}

// TestWrongInput: what nobody can have meant is refused before the database is asked, which is not there.
func TestWrongInput(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", "file:/nowhere/at/all")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	g, err := sqlguard.New(db, sqlguard.SQLite, nil)
	if err != nil {
		t.Fatal(err)
	}
	good := guard.Ticket{Name: "a", Token: 1}
	for want, got := range map[string]error{
		"name":    g.Announce(t.Context(), guard.Ticket{Token: 1}),
		"token":   g.Announce(t.Context(), guard.Ticket{Name: "a"}),
		"tx":      g.Check(t.Context(), db, good),
		"db":      second(sqlguard.New(nil, sqlguard.SQLite, nil)),
		"dialect": second(sqlguard.New(db, "oracle", nil)),
		"table":   second(sqlguard.New(db, sqlguard.SQLite, &sqlguard.Options{Table: "a; DROP"})),
		"key":     second(sqlguard.NewColumn(sqlguard.MySQL, &sqlguard.ColumnOptions{Table: "a", Key: "b c"})),
		"fence":   second(sqlguard.NewColumn(sqlguard.MySQL, &sqlguard.ColumnOptions{Table: "a", Fence: "1"})),
	} {
		wrong, ok := errors.AsType[*input.Error](got)
		if !ok || wrong.Field != want {
			t.Errorf("%s: %v", want, got)
		}
	}
	if err := g.Check(t.Context(), nil, good); !errors.Is(err, input.ErrInvalid) {
		t.Error(err)
	}
	over := guard.Ticket{Name: "a", Token: driver.MaxToken + 1}
	if err := g.Announce(t.Context(), over); !errors.Is(err, input.ErrInvalid) {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }
