// Package bedrocktest is for the tests of services that use Bedrock: it lets time
// pass, breaks backends and stores, stands in for participants, and checks how locks
// and transactions have ended.
//
//	func TestOrderIsUndoneWhenThePaymentIsRefused(t *testing.T) {
//		parts := bedrocktest.NewParticipant()
//		parts.On("pay action").Refuse("no money")
//		co := start(t, memstore.New(nil), parts.Func) // the service under test, on this store
//
//		id := placeOrder(t, co)
//
//		bedrocktest.RolledBack(t, co, id)
//		parts.Called(t, "stock action", "pay action", "stock compensate")
//	}
//
// # Time
//
// Everything in this module reads time from package time alone, so the best fake
// clock is testing/synctest: in a bubble, on memlock and memstore, hours of leases,
// time-outs and retries pass in milliseconds. Where no bubble can be, because the test
// talks to a real server, a [Clock] moves the clocks of stores in memory.
//
// # Faults
//
// [NewBackend] and [NewStore] wrap any backend of locks and any store of transactions:
// down, frozen, slow, an answer lost, the nth call failed, a lease taken away, a lock
// held by somebody else.
//
// # Participants
//
// A [Participant] answers by a script, as a Go function or over HTTP, and knows what it
// was asked for.
//
// # Assertions
//
// [Committed], [RolledBack], [InDoubt] and [Parked] check what became of a transaction,
// and show its timeline when that is something else; [Held], [Lost] and [NotHeld] do
// the same for locks; [NoLocksLeft] and [NoTransactionsLeft] find what a test has left
// behind.
package bedrocktest
