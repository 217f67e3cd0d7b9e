package sqltest

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// createFollowsItsTransaction: the record is there if the user's own rows are.
func createFollowsItsTransaction(t *testing.T, s Subject) {
	store, db := s.Store(t, &sqlstore.Options{Table: "joined"}), s.User(t)
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE orders (id INT NOT NULL PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	for i, end := range []func(*sql.Tx) error{(*sql.Tx).Commit, (*sql.Tx).Rollback} {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		rec := dueRecord(numbered("order", i))
		_, err = tx.ExecContext(t.Context(), "INSERT INTO orders VALUES (1)")
		if err := errors.Join(err, store.CreateTx(t.Context(), tx, rec)); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Load(t.Context(), rec.ID); !errors.Is(err, driver.ErrNotFound) {
			t.Errorf("load before the end: want ErrNotFound, got %v", err)
		}
		if err := end(tx); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			break
		}
		got, err := store.Load(t.Context(), rec.ID)
		if err != nil || got.Revision != 1 || rec.Revision != 1 {
			t.Fatalf("load after the commit: %+v, %v", got, err)
		}
		if _, err := db.ExecContext(t.Context(), "DELETE FROM orders"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Load(t.Context(), numbered("order", 1)); !errors.Is(err, driver.ErrNotFound) {
		t.Errorf("load after the roll back: want ErrNotFound, got %v", err)
	}
}

// takenIDLeavesTransactionUsable: a repeated submit is no reason to lose what the
// user has written.
func takenIDLeavesTransactionUsable(t *testing.T, s Subject) {
	store, db := s.Store(t, &sqlstore.Options{Table: "taken"}), s.User(t)
	if err := store.Create(t.Context(), dueRecord("a")); err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	again := dueRecord("a")
	if err := store.CreateTx(t.Context(), tx, again); !errors.Is(err, driver.ErrExists) || again.Revision != 0 {
		t.Errorf("create what exists: want ErrExists, got %v", err)
	}
	if err := errors.Join(store.CreateTx(t.Context(), tx, dueRecord("b")), tx.Commit()); err != nil {
		t.Errorf("the rest of the transaction: %v", err)
	}
	if _, err := store.Load(t.Context(), "b"); err != nil {
		t.Error(err)
	}
}
