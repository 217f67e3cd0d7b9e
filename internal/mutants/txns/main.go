// Command mutants breaks the transaction code on purpose and shows which test
// notices.
//
//	go run ./internal/mutants/txns [-only REGEXP] [-p N] [-v]
//
// The exit code is 1 when a fault is missed, or no longer fits the code.
package main

import (
	"slices"

	"github.com/bedrock-go/bedrock/internal/mutants"
)

func main() { mutants.Main(allMutants()) }

// allMutants lists the mutants.
func allMutants() []mutants.Mutant {
	return slices.Concat(
		decisionMutants(), ownerMutants(), interventionMutants(), recoveryMutants(), restMutants(), callMutants(),
		definitionMutants(), reachMutants(), answerMutants(), modeMutants(), memoryMutants(),
		sqliteMutants(), diskMutants(), serverMutants(), lifeMutants(), batchMutants(), barrierMutants(),
	)
}
