// Package txn is the vocabulary of distributed transactions: what is asked
// (Definition), what is known (Transaction), what came out (Result), who drives
// (Coordinator) and who takes part (Func, Call, Answer, Caller).
//
// A transaction is a set of branches, one per participant. A branch has up to
// three targets: Do goes forward, Confirm and Undo follow the decision to commit
// or to roll back. What a saga, a TCC transaction or a message is lies in which of
// them it uses and when; packages saga, tcc and msg build definitions in their
// own words.
//
// What the engine or more than one mode reads is a field of Definition. What one mode
// alone reads is one, too, as long as it is the only such field of that mode, as Delay is;
// a second one moves both into a Settings value of the mode.
//
// There are three outcomes: committed, rolled back, and in doubt, which means not
// known yet. A function of this package never returns nil for a transaction that
// was not committed.
package txn
