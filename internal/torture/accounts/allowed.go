package accounts

import (
	"github.com/bedrock-go/bedrock/txn/msg"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

// Allowed lists what may have taken effect at a branch of a final transaction.
func Allowed(mode, branch string, committed bool) [][]string {
	first, second, undo := "action", "", "compensate"
	switch {
	case mode == tcc.Name:
		first, second, undo = "try", "confirm", "cancel"
	case mode == msg.Name && !committed:
		return [][]string{nil}
	case mode == msg.Name && branch == "debit":
		return [][]string{{"local"}}
	case mode == msg.Name:
		return [][]string{{"deliver"}}
	}
	switch {
	case !committed:
		return [][]string{nil, {first, undo}}
	case second == "":
		return [][]string{{first}}
	default:
		return [][]string{{first, second}}
	}
}
