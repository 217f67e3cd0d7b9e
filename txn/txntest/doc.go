// Package txntest proves that a store of transactions keeps what package
// txn/driver promises.
//
// [Run] puts a store through one small test per behaviour. Each is named after
// the failure it prevents:
//
//	func TestConformance(t *testing.T) {
//		txntest.Run(t, func(t testing.TB) driver.Store { return memstore.New(nil) })
//	}
//
// What a store's server does when it freezes, crashes or loses its data is for
// the store's own tests.
//
// # Files
//
// A file per theme: creating.go, keeping.go (the contents), updating.go, claiming.go,
// sharing.go (many at once), listing.go, filtering.go, counting.go, deleting.go,
// abandoning.go (callers leave), closing.go, and comparing.go, which does at random what
// the others do on purpose, beside memstore. conformance.go runs them, env.go is what
// they work with. The tests of the suite break a store in every way that a theme knows
// (mutants_test.go and its neighbours), and want to see it found out (broken_test.go).
package txntest
