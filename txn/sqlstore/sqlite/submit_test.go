package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// TestARepeatedSubmitCommitsTheWorkAgain: whoever repeats a local transaction whose commit
// was not acknowledged is told that its message is there, and so is what came with it.
func TestARepeatedSubmitCommitsTheWorkAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bedrock.db")
	c, err := coord.New(open(t, path, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	delivered := make(chan string, 2)
	mail := func(_ context.Context, call txn.Call) ([]byte, error) { delivered <- call.Transaction; return nil, nil }
	if err := c.Register("mail", mail); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	defer func() { _ = c.Stop(ctx) }()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	d := txn.Definition{ID: "paid-42", Mode: "msg", Branches: []txn.Branch{{ID: "a", Confirm: "mail"}}}
	pay := func() error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		if _, err := c.SubmitTx(ctx, tx, d); err != nil {
			return err
		}
		return tx.Commit()
	}
	if err := pay(); err != nil {
		t.Fatal(err)
	}
	c.Nudge()
	if res, err := c.Wait(ctx, d.ID); res.Outcome != txn.Committed {
		t.Fatalf("%q, %v", res.Outcome, err)
	}
	if err := pay(); !errors.Is(err, driver.ErrExists) {
		t.Errorf("paid again: %v", err)
	}
	if n := len(delivered); n != 1 {
		t.Errorf("%d mails", n)
	}
	if _, err := c.SubmitTx(ctx, nil, d); !errors.Is(err, input.ErrInvalid) {
		t.Errorf("in no transaction: %v", err)
	}
}
