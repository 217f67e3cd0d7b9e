package txns

import (
	"context"
	"errors"
	"sync"

	"github.com/bedrock-go/bedrock/internal/torture/accounts"
	"github.com/bedrock-go/bedrock/txn"
)

const (
	numAccounts = 20
	opening     = 10000
	maxAmount   = 50
)

// repairable are accounts that may be out of order for some transactions.
type repairable struct {
	*accounts.Accounts

	mu       sync.Mutex
	repaired map[string]bool // transactions whose trouble is over
}

func openAccounts(ctx context.Context, path string) (*repairable, error) {
	a, err := accounts.Open(ctx, path, accounts.Size{Number: numAccounts, Opening: opening, Reserve: 2000})
	if err != nil {
		return nil, err
	}
	return &repairable{Accounts: a, repaired: map[string]bool{}}, nil
}

var errBroken = errors.New("out of order")

// takePart is the participant.
func (a *repairable) takePart(ctx context.Context, call txn.Call) ([]byte, error) {
	m, err := accounts.MovementOf(ctx, &call)
	if err != nil {
		return nil, err
	}
	if m.Broken && accounts.Forward(call.Op) && !a.isRepaired(call.Transaction) {
		return nil, errBroken
	}
	return a.Do(ctx, call, m)
}

func (a *repairable) isRepaired(tx string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.repaired[tx]
}

func (a *repairable) repair(tx string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.repaired[tx] = true
}

// read tells the books.
func (a *repairable) read(ctx context.Context, tell func(*event)) error {
	sums, err := a.Sums(ctx)
	if err != nil {
		return err
	}
	tell(&event{Kind: kindSums, Numbers: map[string]int64{
		"balance": sums.Balance, "frozen": sums.Frozen, "coming": sums.Coming, "least": sums.Least,
	}})
	rows, err := a.DB.QueryContext(ctx, "SELECT tx, branch, op FROM effect ORDER BY seq")
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
