// Package orders is the transactions that the benchmark runs: an order that two
// participants have a part in.
package orders

import (
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/participants"
	"github.com/bedrock-go/bedrock/txn"
)

// Payload is the body of every call.
const Payload = `{"order":"42","amount":30}`

// The names of the functions that take part where there is no HTTP.
const (
	FirstAction     = "first.action"
	FirstCompensate = "first.compensate"
	LastAction      = "last.action"
	LastCompensate  = "last.compensate"
)

// Saga is two steps, one after the other, at the participants at addr.
func Saga(addr string) txn.Definition {
	return saga(
		participants.First(addr, "action"), participants.First(addr, "compensate"),
		participants.Last(addr, "action"), participants.Last(addr, "compensate"),
	)
}

// FunctionSaga is the same with functions.
func FunctionSaga() txn.Definition {
	return saga(FirstAction, FirstCompensate, LastAction, LastCompensate)
}

func saga(action1, compensate1, action2, compensate2 string) txn.Definition {
	return txn.Definition{
		Mode: "saga", Name: "order", Payload: []byte(Payload),
		Branches: []txn.Branch{
			{ID: "first", Do: txn.Target(action1), Undo: txn.Target(compensate1)},
			{ID: "last", Do: txn.Target(action2), Undo: txn.Target(compensate2), After: []string{"first"}},
		},
	}
}

// TCC is two branches that are tried and confirmed.
func TCC(addr string) txn.Definition {
	d := OwnTries()
	d.Branches = Branches(addr)
	d.Branches[0].Do = txn.Target(participants.First(addr, "try"))
	d.Branches[1].Do = txn.Target(participants.Last(addr, "try"))
	return d
}

// OwnTries is a TCC transaction whose branches join one by one.
func OwnTries() txn.Definition {
	return txn.Definition{Mode: "tcc", Name: "order", Payload: []byte(Payload)}
}

// Branches are those of a TCC transaction whose caller makes the tries itself.
func Branches(addr string) []txn.Branch {
	return []txn.Branch{
		{
			ID:      "first",
			Confirm: txn.Target(participants.First(addr, "confirm")),
			Undo:    txn.Target(participants.First(addr, "cancel")),
		},
		{
			ID:      "last",
			Confirm: txn.Target(participants.Last(addr, "confirm")),
			Undo:    txn.Target(participants.Last(addr, "cancel")),
		},
	}
}

// Message is delivered to two receivers once its producer has committed.
func Message(addr string) txn.Definition {
	return txn.Definition{
		Mode: "msg", Name: "order", Payload: []byte(Payload),
		Branches: []txn.Branch{
			{ID: "first", Confirm: txn.Target(participants.First(addr, "deliver"))},
			{ID: "last", Confirm: txn.Target(participants.Last(addr, "deliver"))},
		},
		// Nobody is asked in time: the producers here do not die.
		Check: &txn.Check{Target: txn.Target(participants.First(addr, "check")), After: time.Minute},
	}
}
