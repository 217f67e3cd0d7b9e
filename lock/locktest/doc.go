// Package locktest proves that a backend keeps what package lock promises.
//
// [Run] puts a backend through one small test per behaviour. Each is named after
// the failure it prevents, and each uses at least two clients, so that nothing
// passes because they happen to share a process:
//
//	func TestConformance(t *testing.T) {
//		locktest.Run(t, locktest.Backend{Open: open})
//	}
//
// What a backend or its test server cannot do is declared as an exemption with a
// reason, never left out silently. With -v the suite ends with a table of all
// behaviours and what became of them. What the backends of this module declare is the table in
// docs/conformance.md, which a test compares.
//
// In real time the suite bears a machine that is busy: what must not take long may take
// longer when pauses do, and a lease that ends too early proves something only if the
// machine has kept pace. With Virtual, times are exact.
//
// # Files
//
// A file per theme: exclusion.go, modes.go, kinds.go, sharing.go, upgrading.go, permits.go, ordering.go,
// tokens.go, voting.go, bundling.go, noting.go, latching.go, passing.go, telling.go, pleading.go, attending.go,
// expiry.go, renewal.go, releasing.go, waking.go, unknown.go, freezing.go, restarts.go,
// names.go (with the names of names_corpus.go), reentry.go, inspection.go and closing.go;
// behaviours.go lists them.
// Around them locktest.go runs a behaviour if capability.go finds that it can be run, and
// tally.go counts it; env.go is what a behaviour works with, residue.go and leak.go look
// for what it leaves behind. contention.go lets many contend for a name, history.go writes
// down what they did, and model.go says whether a lock may do that. proof.go repeats a trial
// that the machine was too slow for, such as lasting.go's, and limit.go bounds what must not
// take long. For the tests of backends, with_freeze.go freezes what cannot be frozen, and
// observer.go tells of renewals.
package locktest
