// Package coordtest breaks a coordinator at every point where it touches its store or
// a participant, once per run, in every way that can happen in production, and
// checks what must hold whatever happens: everything ends, nothing is half done,
// nothing is decided twice, and nobody was told a wrong outcome.
//
// A run has two coordinators on one store. The first sees the store and its
// participants through wrappers that count calls and break one of them; the second
// sees them as they are. Matrix enumerates (script × method × call number × fault ×
// who goes on), and fails if a method or a kind of call was never broken, so a new
// one cannot be forgotten.
//
// Its files, in the order of a run: matrix.go enumerates, script.go is what a client does,
// run.go plays one cell and checks how it ended, fault.go says what breaks, store.go and
// ledger.go are the store and the participants that break, late.go waits for calls that a
// stall has delayed, and witness.go sees every write and complains of those that must not be.
package coordtest
