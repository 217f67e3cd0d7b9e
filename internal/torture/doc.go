// Package torture breaks what locks and transactions run on, while real processes use
// them, and finds out afterwards whether every promise was kept.
//
// A run has a controller, which is the program the user started, and workers, which are
// child processes of the same binary, so that signals meet one of them alone. All write
// down what they do and when, by the one clock that the processes of a machine share.
// What is judged is that history alone, so it can be judged again later:
//
//	history   what was seen, as lines of JSON
//	nemesis   faults, when they may be done, and the evidence that they were
//	stage     servers and processes of a run
//	locks     workload, faults and oracles of locks
//	txns      … of transactions
//	accounts  a participant: accounts that money moves between
//	replicas  how clients reach a coordinator that has several servers
//	audit     what came out, for people and programs
package torture
