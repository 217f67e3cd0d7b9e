// Command mutants breaks the lock code on purpose and shows which test notices.
//
//	go run ./internal/mutants/locks [-only REGEXP] [-p N] [-v]
//
// The exit code is 1 when a fault is missed, or no longer fits the code.
package main

import "github.com/bedrock-go/bedrock/internal/mutants"

func main() { mutants.Main(allMutants()) }
