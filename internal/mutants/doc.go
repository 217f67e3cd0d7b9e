// Package mutants tests tests: it puts deliberate faults into the code, one at a
// time, and checks that the test meant to catch each of them does. A program is a
// list of mutants and a call of [Main]:
//
//	go run ./internal/mutants/locks [-only REGEXP] [-p N] [-v] [-args "FLAGS"]
//
// Nothing of the code is changed on disk: a fault is an overlay for one run of go test, or
// for one build of bedrock where its torture must catch it.
package mutants
