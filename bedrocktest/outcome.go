package bedrocktest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// patience is how long an assertion waits for what it asserts.
const patience = time.Minute

// Coordinator is what the assertions on transactions ask: a coordinator, embedded
// (*coord.Coordinator) or remote (*client.Client).
type Coordinator interface {
	txn.Coordinator
	txn.Inspector
}

// Committed checks that a transaction ends committed, and returns it. Like the other
// assertions on outcomes it waits for the end, but no longer than a minute: where it
// may take longer, call Wait first. When the outcome is another the message shows what
// happened, call by call.
func Committed(t testing.TB, co Coordinator, id string) *txn.Transaction {
	t.Helper()
	return endsAs(t, co, id, txn.Committed)
}

// RolledBack checks that a transaction ends rolled back, and returns it.
func RolledBack(t testing.TB, co Coordinator, id string) *txn.Transaction {
	t.Helper()
	return endsAs(t, co, id, txn.RolledBack)
}

// InDoubt checks that somebody has given a transaction up before its outcome was known,
// and returns it.
func InDoubt(t testing.TB, co Coordinator, id string) *txn.Transaction {
	t.Helper()
	return endsAs(t, co, id, txn.InDoubt)
}

// Parked checks that a transaction waits for a person, and returns it.
func Parked(t testing.TB, co Coordinator, id string) *txn.Transaction {
	t.Helper()
	tx := waitEnded(t, co, id)
	if tx.Parked == "" {
		t.Errorf("transaction %s: want it parked, it is %s", id, describeTransaction(tx))
	}
	return tx
}

func endsAs(t testing.TB, co Coordinator, id string, want txn.Status) *txn.Transaction {
	t.Helper()
	tx := waitEnded(t, co, id)
	if tx.Status != want || tx.Parked != "" {
		t.Errorf("transaction %s: want it %s, it is %s", id, want, describeTransaction(tx))
	}
	return tx
}

// waitEnded returns a transaction that is final or parked, or as it is when patience ends.
func waitEnded(t testing.TB, co Coordinator, id string) *txn.Transaction {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := co.Wait(ctx, id) // the transaction itself says more than the error
	if errors.Is(err, txn.ErrNotFound) {
		t.Fatal(err)
	}
	tx, err := co.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// NoTransactionsLeft checks that all transactions are final: none is open, under way
// or parked. It looks once, so first wait for those that are under way.
func NoTransactionsLeft(t testing.TB, co txn.Inspector) {
	t.Helper()
	unfinished := []txn.Status{txn.Open, txn.Running, txn.Committing, txn.RollingBack}
	page, err := co.List(t.Context(), txn.Query{Status: unfinished})
	if err != nil {
		t.Fatalf("list transactions: %v", err)
	}
	for _, brief := range page.Transactions {
		tx, err := co.Get(t.Context(), brief.ID)
		if err != nil {
			t.Errorf("transaction %s: %v", brief.ID, err)
			continue
		}
		t.Errorf("transaction %s is left behind, %s", tx.ID, describeTransaction(tx))
	}
}
