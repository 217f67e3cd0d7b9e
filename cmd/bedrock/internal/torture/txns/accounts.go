package txns

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // where the accounts are

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/torture/nemesis"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
)

const (
	numAccounts = 20
	opening     = 10000 // what is in each account at first
	maxAmount   = 50
	// reserve is what an ordinary debit leaves in an account, so that a credit can always
	// be taken back.
	reserve = 2000
)

// accounts are the participant's business data, and a ledger of what took effect, written
// in the same transactions.
type accounts struct {
	db      *sql.DB
	barrier *barrier.Barrier

	mu       sync.Mutex
	repaired map[string]bool // transactions whose trouble is over
}

// openAccounts opens a file. A killed process loses nothing that it has handed to the
// system, so commits need not wait for the disk.
func openAccounts(ctx context.Context, path string) (*accounts, error) {
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
	a := &accounts{db: db, barrier: b, repaired: map[string]bool{}}
	if err := errors.Join(b.Migrate(ctx), a.migrate(ctx)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return a, nil
}

func (a *accounts) migrate(ctx context.Context) error {
	for _, statement := range []string{
		`CREATE TABLE IF NOT EXISTS account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL CHECK (balance >= 0),
			frozen INTEGER NOT NULL CHECK (frozen >= 0), coming INTEGER NOT NULL CHECK (coming >= 0))`,
		`CREATE TABLE IF NOT EXISTS effect (seq INTEGER PRIMARY KEY, tx TEXT NOT NULL, branch TEXT NOT NULL,
			op TEXT NOT NULL)`,
		fmt.Sprintf(`WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < %d)
			INSERT OR IGNORE INTO account SELECT id, %d, 0, 0 FROM n`, numAccounts, opening),
	} {
		if _, err := a.db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("make accounts: %w", err)
		}
	}
	return nil
}

// movement is one branch of a transfer: the payload of its calls.
type movement struct {
	Account int
	Amount  int64
	Closed  bool          // the account refuses
	Hang    time.Duration // how long going forward takes
	Broken  bool          // it fails until it is repaired
}

// changes says what each operation of each branch does to an account: with the amount as
// the first parameter and the account as the second.
func changes() map[string]string {
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

// forward tells whether an operation may still be refused.
func forward(op string) bool { return op == "action" || op == "try" || op == "local" }

var (
	errClosed = errors.New("the account is closed")
	errPoor   = errors.New(poorReason)
	errBroken = errors.New("out of order")
)

const poorReason = "not enough money"

// serve is the participant.
func (a *accounts) serve(ctx context.Context, call txn.Call) ([]byte, error) {
	var m movement
	if err := json.Unmarshal(call.Payload, &m); err != nil {
		return nil, err
	}
	if m.Hang > 0 && forward(call.Op) {
		nemesis.Sleep(context.WithoutCancel(ctx), m.Hang) // and then does it, whoever has gone meanwhile
	}
	if m.Broken && forward(call.Op) && !a.isRepaired(call.Transaction) {
		return nil, errBroken
	}
	result, _, err := a.barrier.Do(ctx, call, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		return nil, move(ctx, tx, call, m)
	})
	return result, err
}

func (a *accounts) isRepaired(tx string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.repaired[tx]
}

func (a *accounts) repair(tx string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.repaired[tx] = true
}

// move changes an account and enters it into the ledger.
func move(ctx context.Context, tx *sql.Tx, call txn.Call, m movement) error {
	change, ok := changes()[strings.TrimRight(call.Branch, "0123456789")+" "+call.Op]
	switch {
	case !ok:
		return fmt.Errorf("branch %q has no operation %q", call.Branch, call.Op)
	case m.Closed && forward(call.Op):
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

// read tells the books.
func (a *accounts) read(ctx context.Context, tell func(*event)) error {
	var balance, frozen, coming, least int64
	err := a.db.QueryRowContext(ctx, "SELECT SUM(balance), SUM(frozen), SUM(coming), MIN(balance) FROM account").
		Scan(&balance, &frozen, &coming, &least)
	if err != nil {
		return err
	}
	tell(&event{Kind: kindSums, Numbers: map[string]int64{
		"balance": balance, "frozen": frozen, "coming": coming,
		"least": least,
	}})
	rows, err := a.db.QueryContext(ctx, "SELECT tx, branch, op FROM effect ORDER BY seq")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		e := event{Kind: kindEffect}
		if err := rows.Scan(&e.ID, &e.Branch, &e.Op); err != nil {
			return err
		}
		tell(&e)
	}
	return rows.Err()
}
