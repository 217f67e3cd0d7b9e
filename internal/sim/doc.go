// Package sim runs the product in virtual time against a network, a store and
// participants that misbehave, and looks for rules that are broken: faults that
// nobody has thought of a test for.
//
// A run is drawn from a seed, whole, before it begins: who there is, what they do and
// what goes wrong when. It is played in a bubble of testing/synctest, where an hour
// takes as long as there is something to compute. Everything that is left to chance
// while it is played is drawn from the seed, too, by what it is about; so a run that
// breaks a rule does so again whenever it is repeated, and can be shortened: parts of
// the plan are left out as long as the same rule is broken.
//
//	go test ./internal/sim/locks -run Sim -runs 10000
//	go test ./internal/sim/locks -run Sim -seed 4711
package sim
