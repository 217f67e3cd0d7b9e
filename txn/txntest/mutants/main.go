// Command mutants breaks the transaction code on purpose and shows which test
// notices.
//
//	go run ./txn/txntest/mutants [-only REGEXP] [-p N] [-v]
//
// The exit code is 1 when a fault is missed, or no longer fits the code.
package main

import (
	"slices"

	"github.com/bedrock-go/bedrock/internal/mutants"
)

func main() { mutants.Main(all()) }

// all lists the mutants.
func all() []mutants.Mutant {
	return slices.Concat(
		decisionMutants(), ownerMutants(), interventionMutants(), recoveryMutants(), restMutants(), callMutants(),
		definitionMutants(), reachMutants(), answerMutants(), modeMutants(), memoryMutants(),
		sqliteMutants(), diskMutants(), serverMutants(), lifeMutants(), batchMutants(), barrierMutants(),
	)
}
