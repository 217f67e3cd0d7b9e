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

// misnamed says of an operation that nobody is ever called for it, since its last word is that
// of no mode: what a test says of it would hold whatever was called. It is empty of all others.
func misnamed(operation string) string {
	word := operation[strings.LastIndexByte(operation, ' ')+1:]
	known := operationWords()
	if slices.Contains(known, word) {
		return ""
	}
	return fmt.Sprintf("%q is no operation%s; its last word is one of %s",
		operation, nearest.Hint(word, known), strings.Join(known, ", "))
}

// operationWords are what the modes call their operations.
func operationWords() []string {
	var words []string
	for _, m := range modes.All() {
		for _, phase := range m.Phases() {
			words = append(words, m.Op(phase))
		}
	}
	return words
}
