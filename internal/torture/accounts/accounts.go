// Package accounts is the participant of a torture: accounts that money moves between, behind
// a barrier.
package accounts

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	_ "modernc.org/sqlite" // where the accounts are

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
)

// Accounts are a participant's business data, and a ledger of what took effect, written in
// the same transactions.
type Accounts struct {
	DB      *sql.DB
	Barrier *barrier.Barrier
	size    Size
}

// Size says how much there is.
type Size struct {
	Number  int   // of accounts
	Opening int64 // what is in each account at first
	// Reserve is what an ordinary debit leaves in an account, so that a credit can always
	// be taken back.
	Reserve int64
}

// Open opens a file. A killed process loses nothing that it has handed to the
// system, so commits need not wait for the disk.
func Open(ctx context.Context, path string, size Size) (*Accounts, error) {
	db, err := sql.Open("sqlite", "file:"+path+
		"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	b, err := barrier.New(db, barrier.SQLite, nil)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	a := &Accounts{DB: db, Barrier: b, size: size}
	if err := errors.Join(b.Migrate(ctx), a.migrate(ctx)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return a, nil
}

func (a *Accounts) migrate(ctx context.Context) error {
	for _, statement := range []string{
		`CREATE TABLE IF NOT EXISTS account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL CHECK (balance >= 0),
			frozen INTEGER NOT NULL CHECK (frozen >= 0), coming INTEGER NOT NULL CHECK (coming >= 0))`,
		`CREATE TABLE IF NOT EXISTS effect (seq INTEGER PRIMARY KEY, tx TEXT NOT NULL, branch TEXT NOT NULL,
			op TEXT NOT NULL)`,
		fmt.Sprintf(`WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < %d)
			INSERT OR IGNORE INTO account SELECT id, %d, 0, 0 FROM n`, a.size.Number, a.size.Opening),
	} {
		if _, err := a.DB.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("make accounts: %w", err)
		}
	}
	return nil
}

// Movement is one branch of a transfer: the payload of its calls.
type Movement struct {
	Account int
	Amount  int64
	Closed  bool          // the account refuses
	Hang    time.Duration // how long going forward takes
	Broken  bool          // it fails until it is repaired, where that can be
}

// changes says what each operation of each branch does to an account: with the amount as
// the first parameter and the account as the second.
func changes(reserve int64) map[string]string {
	afford := fmt.Sprintf(" AND balance >= ?1 + %d", reserve)
	debit := "UPDATE account SET balance = balance - ?1 WHERE id = ?2" + afford
	credit := "UPDATE account SET balance = balance + ?1 WHERE id = ?2"
	return map[string]string{
		"debit action":      debit,
		"debit compensate":  credit,
		"credit action":     credit,
		"credit compensate": "UPDATE account SET balance = balance - ?1 WHERE id = ?2",

		"debit try":      "UPDATE account SET balance = balance - ?1, frozen = frozen + ?1 WHERE id = ?2" + afford,
		"debit confirm":  "UPDATE account SET frozen = frozen - ?1 WHERE id = ?2",
		"debit cancel":   "UPDATE account SET frozen = frozen - ?1, balance = balance + ?1 WHERE id = ?2",
		"credit try":     "UPDATE account SET coming = coming + ?1 WHERE id = ?2",
		"credit confirm": "UPDATE account SET coming = coming - ?1, balance = balance + ?1 WHERE id = ?2",
		"credit cancel":  "UPDATE account SET coming = coming - ?1 WHERE id = ?2",

		"debit local":    debit,
		"credit deliver": credit,
		"note deliver":   "UPDATE account SET balance = balance WHERE ?1 = ?1 AND id = ?2", // a letter moves no money
	}
}

// Forward reports whether an operation may still be refused.
func Forward(op string) bool { return op == "action" || op == "try" || op == "local" }

var (
	errClosed = errors.New("the account is closed")
	errPoor   = errors.New(PoorReason)
)

// PoorReason is why a debit is refused that leaves too little.
const PoorReason = "not enough money"

// MovementOf reads what a call is to move, and takes the time that this takes.
func MovementOf(ctx context.Context, call *txn.Call) (m Movement, err error) {
	if err := json.Unmarshal(call.Payload, &m); err != nil {
		return m, err
	}
	if m.Hang > 0 && Forward(call.Op) {
		sleep.For(context.WithoutCancel(ctx), m.Hang) // and then does it, whoever has gone meanwhile
	}
	return m, nil
}

// Do is what the participant does.
func (a *Accounts) Do(ctx context.Context, call txn.Call, m Movement) ([]byte, error) {
	result, _, err := a.Barrier.Do(ctx, call, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		return nil, a.Move(ctx, tx, call, m)
	})
	return result, err
}

// Move changes an account and enters it into the ledger.
func (a *Accounts) Move(ctx context.Context, tx *sql.Tx, call txn.Call, m Movement) error {
	change, ok := changes(a.size.Reserve)[strings.TrimRight(call.Branch, "0123456789")+" "+call.Op]
	switch {
	case !ok:
		return fmt.Errorf("branch %q has no operation %q", call.Branch, call.Op)
	case m.Closed && Forward(call.Op):
		return txn.Abort(errClosed)
	}
	result, err := tx.ExecContext(ctx, change, m.Amount, m.Account)
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	switch {
	case err != nil:
		return err
	case n == 0:
		return txn.Abort(errPoor)
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO effect (tx, branch, op) VALUES (?, ?, ?)", call.Transaction, call.Branch,
		call.Op)
	return err
}

// Sums are what is in all accounts together, and in the poorest one.
type Sums struct{ Balance, Frozen, Coming, Least int64 }

// Sums counts the money.
func (a *Accounts) Sums(ctx context.Context) (s Sums, err error) {
	err = a.DB.QueryRowContext(ctx, "SELECT SUM(balance), SUM(frozen), SUM(coming), MIN(balance) FROM account").
		Scan(&s.Balance, &s.Frozen, &s.Coming, &s.Least)
	return s, err
}
