package sqlguard_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/bedrock-go/bedrock/lock/guard"
	"github.com/bedrock-go/bedrock/lock/guard/internal/guardtest"
	"github.com/bedrock-go/bedrock/lock/guard/sqlguard"
)

func (e *engine) column(t *testing.T) *sqlguard.Column {
	t.Helper()
	c, err := sqlguard.NewColumn(e.dialect, &sqlguard.ColumnOptions{Table: "orders"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// update is the documented statement.
func (e *engine) update(ctx context.Context, tx sqlguard.Tx, token uint64, id, status string) (sql.Result, error) {
	return tx.ExecContext(ctx, e.place("UPDATE orders SET status = ?, fence = ? WHERE id = ? AND fence <= ?"),
		status, token, id, token)
}

func testColumn(t *testing.T, e *engine) {
	c, id := e.column(t), t.Name()
	e.exec(t, "INSERT INTO orders (id, status) VALUES (?, 'new')", id)
	write := func(token uint64, id, status string) error {
		result, err := e.update(t.Context(), e.db, token, id, status)
		if err != nil {
			return err
		}
		return c.Check(t.Context(), e.db, ticket(t, token), id, result)
	}
	mustAccept(t, write(5, id, "paid"))
	mustAccept(t, write(5, id, "paid")) // which changes nothing
	mustAccept(t, write(5, id, "packed"))
	wantStale(t, write(4, id, "late"), 4, 5)
	mustAccept(t, c.Announce(t.Context(), e.db, ticket(t, 7), id))
	mustAccept(t, c.Announce(t.Context(), e.db, ticket(t, 7), id))
	wantStale(t, write(6, id, "late"), 6, 7)
	wantStale(t, c.Announce(t.Context(), e.db, ticket(t, 6), id), 6, 7)
	if status := e.text(t, "SELECT status FROM orders WHERE id = ?", id); status != "packed" {
		t.Error(status)
	}
	for what, err := range map[string]error{
		"check": write(8, id+"?", "nothing"), "announce": c.Announce(t.Context(), e.db, ticket(t, 8), id+"?"),
	} {
		if !errors.Is(err, sqlguard.ErrNoRow) || errors.Is(err, guard.ErrStale) ||
			!strings.HasPrefix(err.Error(), "sqlguard: "+what+" ") {
			t.Errorf("%s: no such row: %v", what, err)
		}
	}
	// A statement that is about something else is not taken for one that was accepted.
	result, err := e.update(t.Context(), e.db, 9, id+"?", "paid")
	mustAccept(t, err)
	if err := c.Check(t.Context(), e.db, ticket(t, 9), id, result); err == nil || errors.Is(err, guard.ErrStale) {
		t.Errorf("another row: %v", err)
	}
}

// testColumnRace: the entries are beside the row, in the same transaction.
func testColumnRace(t *testing.T, e *engine) {
	c := e.column(t)
	for name, level := range e.levels {
		t.Run(name, func(t *testing.T) {
			e.exec(t, "INSERT INTO orders (id, status) VALUES (?, '0')", t.Name())
			guardtest.Contest{
				Announce: func(ctx context.Context, ticket guard.Ticket) error {
					for {
						err := c.Announce(ctx, e.db, ticket, ticket.Name)
						if !e.repeatable(err) {
							return err
						}
					}
				},
				Append: func(ctx context.Context, ticket guard.Ticket) error {
					return e.in(ctx, level, func(tx *sql.Tx) error {
						if err := c.Announce(ctx, tx, ticket, ticket.Name); err != nil {
							return err
						}
						return e.addEntry(ctx, tx, ticket)
					})
				},
				Repeatable: e.repeatable,
				Entries:    e.entries,
			}.Run(t)
		})
	}
}
