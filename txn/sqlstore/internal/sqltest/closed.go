package sqltest

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// ClosedAmidWrite closes a store while the server is at a write. It may be made yet, so
// nobody may say that it is not. The query counts the transactions that wait for a row.
func ClosedAmidWrite(t *testing.T, s Subject, waiting string) {
	store, user := s.Store(t, &sqlstore.Options{Table: "closed"}), s.User(t)
	rec := dueRecord("a")
	if err := store.Create(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	tx := locked(t, user, "SELECT id FROM closed WHERE id = 'a' FOR UPDATE")
	told := make(chan error, 1)
	go func() {
		rec.Status = driver.Committed
		told <- store.Update(context.Background(), rec.Version(), rec)
	}()
	eventually(t, "the write waits for the row", func() bool { return text(t, user, waiting) == "1" })
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	err := <-told
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
	eventually(t, "the write has the row", func() bool { return text(t, user, waiting) == "0" })
	status := text(t, user, "SELECT status FROM closed WHERE id = 'a' FOR UPDATE")
	unwritten := errors.Is(err, driver.ErrClosed) || errors.Is(err, driver.ErrUnavailable)
	if err == nil || status == string(driver.Committed) && unwritten {
		t.Errorf("the record is %s, its writer was told: %v", status, err)
	}
}

// locked begins a transaction that holds a row.
func locked(t *testing.T, db *sql.DB, query string) *sql.Tx {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var id string
	if err := tx.QueryRowContext(t.Context(), query).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return tx
}

// text reads one value.
func text(t *testing.T, db *sql.DB, query string) (value string) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}
