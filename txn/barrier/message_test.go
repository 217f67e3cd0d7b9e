package barrier_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
)

func testMessages(t *testing.T, e *engine) {
	a := e.account(t)
	message := id(t, "committed")
	if err := e.produce(t.Context(), message, a.add(1, "")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if e.check(t, message) {
			t.Error("committed, but the check was refused")
		}
	}
	if err := e.produce(t.Context(), message, a.add(1, "")); !errors.Is(err, barrier.ErrPrepared) {
		t.Errorf("the same message again: %v", err)
	}
	a.want(t, 1)

	message = id(t, "failed")
	if err := e.produce(t.Context(), message, then(a.add(1, ""), errors.New("boom"))); err == nil {
		t.Fatal("no error")
	}
	for range 2 {
		if !e.check(t, message) {
			t.Error("not committed, but the check was not refused")
		}
	}
	if err := e.produce(t.Context(), message, a.add(1, "")); !errors.Is(err, barrier.ErrRolledBack) {
		t.Errorf("after the check: %v", err)
	}
	a.want(t, 1)
	if err := e.b.Prepare(t.Context(), e.db, ""); err == nil {
		t.Error("a message without ID was prepared")
	}
	if _, err := e.b.Check(t.Context(), txn.Call{}); err == nil || txn.Aborted(err) {
		t.Errorf("check of a message without ID: %v", err)
	}
}

// testCheckWaits: while the local transaction is open there is no answer, and the
// question ends when its context does.
func testCheckWaits(t *testing.T, e *engine) {
	if e.dialect == barrier.SQLite {
		e = impatient(t)
	}
	message := id(t, "x")
	tx, err := e.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if err := e.b.Prepare(t.Context(), tx, message); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := e.b.Check(ctx, txn.Call{Transaction: message}); err == nil || txn.Aborted(err) {
		t.Errorf("check of an open transaction: %v", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the check took %v", took)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if e.check(t, message) {
		t.Error("committed, but the check was refused")
	}
}

// impatient is a SQLite database that waits for locks as long as its context, and
// not longer than a moment.
func impatient(t *testing.T) *engine {
	t.Helper()
	dsn := "file:" + t.TempDir() + "/x.db?_pragma=busy_timeout(100)&_pragma=journal_mode(WAL)"
	return open(t, "sqlite", dsn, barrier.SQLite, barrier.Native)
}
