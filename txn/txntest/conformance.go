package txntest

import (
	"testing"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// Twin is a store that can be opened a second time on the same records, as
// another replica of a coordinator would. Where the store to be tested offers
// it, one handle writes and the other reads, so that nothing passes because of
// what a process remembers.
type Twin interface {
	driver.Store
	// Twin opens the records again. The suite closes what it returns.
	Twin(t testing.TB) driver.Store
}

// Run puts a store through every behaviour. Open returns a store that is empty
// and that nobody else uses; the suite closes it. It is called once for every
// behaviour, and behaviours run in parallel.
func Run(t *testing.T, open func(t testing.TB) driver.Store) {
	t.Helper()
	for _, b := range behaviours() {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			b.run(newEnv(t, open))
		})
	}
}

// behaviour is one thing a store must do, under the name of the failure that
// results when it does not.
type behaviour struct {
	name string
	run  func(*env)
}

// behaviours lists all of them, by theme.
func behaviours() []behaviour {
	var all []behaviour
	for _, theme := range [][]behaviour{
		creating(), keeping(), updating(), claiming(), sharing(), listing(), filtering(), deleting(), counting(),
		comparing(), abandoning(), closing(),
	} {
		all = append(all, theme...)
	}
	return all
}
