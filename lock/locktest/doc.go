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
// behaviours and what became of them.
//
// [Faulty] makes any backend fail on demand: it loses replies, delays, freezes.
package locktest
