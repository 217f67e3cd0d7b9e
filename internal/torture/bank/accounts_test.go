//go:build unix

package bank_test

import (
	"context"
	"time"

	"github.com/bedrock-go/bedrock/internal/torture/accounts"
	"github.com/bedrock-go/bedrock/txn"
)

const (
	numAccounts = 20
	opening     = 1000
	// reserve is more than all clients together may have on the way.
	reserve = clients * maxAmount
)

func openAccounts(ctx context.Context, path string) (*accounts.Accounts, error) {
	return accounts.Open(ctx, path, accounts.Size{Number: numAccounts, Opening: opening, Reserve: reserve})
}

// participantOf moves money as calls want it.
func participantOf(a *accounts.Accounts) txn.Func {
	return func(ctx context.Context, call txn.Call) ([]byte, error) {
		m, err := accounts.MovementOf(ctx, &call)
		if err != nil {
			return nil, err
		}
		return a.Do(ctx, call, m)
	}
}

// hang is how long a call takes that takes too long.
const hang = time.Second
