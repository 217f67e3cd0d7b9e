package bedrocktest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bedrock-go/bedrock/internal/nearest"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/modes"
)

// operationOf names what a call asks for.
func operationOf(call *txn.Call) string { return strings.TrimSpace(call.Branch + " " + call.Op) }

// misnamed says of an operation that nobody is ever called for it: what a test says of it would
// hold whatever was called. It is empty of all others.
func misnamed(operation string) string {
	branch, word, _ := strings.Cut(operation, " ")
	known := operationWords()
	switch {
	case operation == checkWord, branch != "" && slices.Contains(known, strings.TrimPrefix(word, txn.HookPrefix)):
		return ""
	case slices.Contains(known, operation):
		return fmt.Sprintf("%q is no operation: whose %s is it? Want BRANCH %s", operation, operation, operation)
	default:
		return fmt.Sprintf("%q is no operation%s; want %s, or BRANCH and one of %s",
			operation, nearest.Hint(word, known), checkWord, strings.Join(known, ", "))
	}
}

// checkWord is the question to the producer of a message, which has no branch.
const checkWord = string(txn.PhaseCheck)

// operationWords are what the modes call the operations on a branch.
func operationWords() []string {
	var words []string
	for _, m := range modes.All() {
		for _, phase := range m.Phases() {
			if phase != txn.PhaseCheck {
				words = append(words, m.Op(phase))
			}
		}
	}
	return words
}
