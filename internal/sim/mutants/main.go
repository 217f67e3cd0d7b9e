// Command mutants puts faults back into the code that were once found in it, and shows
// that the hunters find them again: simulation, and torture on real servers. No test was
// written for any of them here.
//
//	go run ./internal/sim/mutants [-only REGEXP] [-p N] [-v] [-args "FLAGS"]
//
// The exit code is 1 when a fault is missed, or no longer fits the code.
package main

import (
	"slices"

	"github.com/bedrock-go/bedrock/internal/mutants"
)

func main() { mutants.Main(allMutants()) }

// allMutants lists the mutants; first those beside a server, which take long and mostly wait.
func allMutants() []mutants.Mutant {
	return slices.Concat(serverMutants(), lockMutants(), callMutants(), recordMutants())
}

// locks is a fault that the simulation of locks must find.
func locks(name, file, old, mutated string) mutants.Mutant {
	return simulated("internal/sim/locks", name, file, old, mutated)
}

// txns is a fault that the simulation of transactions must find.
func txns(name, file, old, mutated string) mutants.Mutant {
	return simulated("internal/sim/txns", name, file, old, mutated)
}

func simulated(pkg, name, file, old, mutated string) mutants.Mutant {
	return mutants.Mutant{
		Name: name, File: file, Old: old, New: mutated, Pkg: pkg, Test: "TestSim",
		Hunt: []string{"-runs", "20000", "-shrink", "1ms", "-stall", "10s"},
	}
}
