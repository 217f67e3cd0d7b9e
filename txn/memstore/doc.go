// Package memstore keeps transactions in the memory of one process: the
// reference for every other store, and enough for tests and for programs whose
// transactions may end with them.
//
// Its clock is time.Now, so inside a testing/synctest bubble it runs in virtual
// time, and hours of retries pass in milliseconds.
package memstore
