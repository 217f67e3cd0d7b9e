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
package txntest
