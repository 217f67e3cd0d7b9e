package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/bedrock-go/bedrock/txn"
)

// order is what a bank is asked to do.
type order struct {
	Account string `json:"account"`
	Amount  int    `json:"amount"`
}

// bank is a participant. It remembers what it has done, so that a call that is
// repeated does nothing; with a database, package barrier does that.
type bank struct {
	name string
	tell func(string, ...any)

	mu       sync.Mutex
	accounts map[string]int
	done     map[string]bool // by transaction and operation
	down     bool
	failures chan struct{}
}

func newBank(name string, tell func(string, ...any), accounts map[string]int) *bank {
	return &bank{
		name: name, tell: tell, accounts: accounts, done: make(map[string]bool), failures: make(chan struct{}, 64),
	}
}

func (b *bank) debit(_ context.Context, call txn.Call) ([]byte, error) {
	return nil, b.book(call, -1, "withdraws")
}

func (b *bank) refund(_ context.Context, call txn.Call) ([]byte, error) {
	return nil, b.book(call, +1, "gives back")
}

func (b *bank) deposit(_ context.Context, call txn.Call) ([]byte, error) {
	return nil, b.book(call, +1, "deposits")
}

func (b *bank) takeBack(_ context.Context, call txn.Call) ([]byte, error) {
	return nil, b.book(call, -1, "takes back")
}

// book does what a call asks for, once.
func (b *bank) book(call txn.Call, sign int, verb string) error {
	var o order
	if err := json.Unmarshal(call.Payload, &o); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.down {
		b.tell("the %s bank does not answer", b.name)
		b.countFailure()
		return errors.New("bank is down")
	}
	if b.done[call.Transaction+" "+call.Op] {
		return nil
	}
	if _, ok := b.accounts[o.Account]; !ok {
		b.tell("the %s bank REFUSES: %s has no account", b.name, o.Account)
		return txn.Abort(fmt.Errorf("%s has no account", o.Account))
	}
	b.accounts[o.Account] += sign * o.Amount
	b.done[call.Transaction+" "+call.Op] = true
	b.tell("the %s bank %s %d (%s)", b.name, verb, o.Amount, o.Account)
	return nil
}

// countFailure counts a call that was not answered. b.mu is held.
func (b *bank) countFailure() {
	select {
	case b.failures <- struct{}{}:
	default: // enough have been counted
	}
}

// awaitFailures waits until so many calls were not answered.
func (b *bank) awaitFailures(ctx context.Context, n int) error {
	for range n {
		select {
		case <-b.failures:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (b *bank) setDown(down bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.down = down
}

func (b *bank) balance(account string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.accounts[account]
}

func (b *bank) total() (sum int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, balance := range b.accounts {
		sum += balance
	}
	return sum
}
