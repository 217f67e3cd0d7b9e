//go:build unix

package bank_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/bedrock-go/bedrock/internal/torture/accounts"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/msg"
	"github.com/bedrock-go/bedrock/txn/saga"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

const (
	clients   = 8
	maxAmount = 50
)

// fate is what is to become of a transfer.
type fate string

const (
	normal fate = "normal" // nothing stands in its way but faults, and other transfers' money
	poor   fate = "poor"   // more money than there is
	closed fate = "closed" // one of the accounts refuses
	late   fate = "late"   // a participant hangs beyond the time-out
	// silent is a message whose producer commits, and silent-no one whose producer
	// does nothing; neither is heard of again, and has to be asked.
	silent   fate = "silent"
	silentNo fate = "silent-no"
)

// transfer moves money from one account to another.
type transfer struct {
	ID, Mode string
	From, To int
	Amount   int64
	Fate     fate
}

// draw makes a transfer up: one in ten fails for a reason of the business, one in
// fifty runs into its time-out.
func draw(random *rand.Rand, mode string, n int) transfer {
	t := transfer{
		ID: fmt.Sprintf("%s-%d", mode, n), Mode: mode, Fate: normal,
		From: 1 + random.IntN(numAccounts), Amount: 1 + random.Int64N(maxAmount),
	}
	t.To = 1 + (t.From+random.IntN(numAccounts-1))%numAccounts
	switch roll := random.IntN(100); {
	case roll < 5:
		t.Fate, t.Amount = poor, 1e9
	case roll < 10:
		t.Fate = closed
	case roll < 12:
		t.Fate = lateFate(random, mode)
	}
	return t
}

// lateFate is how a transfer of some mode runs out of time.
func lateFate(random *rand.Rand, mode string) fate {
	switch {
	case mode != "msg":
		return late
	case random.IntN(2) == 0:
		return silent
	default:
		return silentNo
	}
}

// fails reports whether a transfer must not be committed.
func (t *transfer) fails() bool { return t.Fate == poor || t.Fate == closed || t.Fate == silentNo }

func (t *transfer) debit() accounts.Movement {
	return accounts.Movement{Account: t.From, Amount: t.Amount, Closed: t.Fate == closed && t.Mode == "msg"}
}

func (t *transfer) credit() accounts.Movement {
	m := accounts.Movement{Account: t.To, Amount: t.Amount, Closed: t.Fate == closed && t.Mode != "msg"}
	if t.Fate == late {
		m.Hang = hang
	}
	return m
}

// policy keeps pauses short, so that much happens in little time.
func policy() txn.Policy {
	return txn.Policy{Timeout: 2 * time.Second, Backoff: 50 * time.Millisecond, MaxBackoff: time.Second}
}

// timeout is far away, unless the transfer is to run into it.
func (t *transfer) timeout() time.Duration {
	if t.Fate == late {
		return hang / 3
	}
	return time.Minute
}

// definition is the transfer as a transaction with the service at a URL.
func (t *transfer) definition(service string) (txn.Definition, error) {
	debit, credit := txn.Target(service+"/debit"), txn.Target(service+"/credit")
	switch t.Mode {
	case "saga":
		return saga.New("transfer").
			Step("debit", debit, debit).Payload(t.debit()).Policy(policy()).
			Step("credit", credit, credit).Payload(t.credit()).Policy(policy()).
			Timeout(t.timeout()).ID(t.ID).Definition(nil)
	case "tcc":
		return tcc.New("transfer").
			Branch("debit", debit, debit, debit).Payload(t.debit()).Policy(policy()).
			Branch("credit", credit, credit, credit).Payload(t.credit()).Policy(policy()).
			Timeout(t.timeout()).ID(t.ID).Definition(nil)
	default:
		return t.message(service).Definition(nil)
	}
}

// message is the transfer as a message: the producer debits in its own local
// transaction, and the credit is delivered.
func (t *transfer) message(service string) *msg.Message {
	p := policy()
	return msg.New("transfer").
		To("credit", txn.Target(service+"/credit")).Payload(t.credit()).Policy(p).
		Check(txn.Target(service+"/check"), 500*time.Millisecond, &p).ID(t.ID)
}
