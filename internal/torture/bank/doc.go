// Package bank moves money between accounts while everything around it is killed,
// paused and repeated, and then counts the money.
//
// TestBank runs coordinators as processes of their own on one store, and the
// accounts behind an HTTP service in another process, with a real database and
// package barrier. Clients transfer money with sagas, TCC and messages. Meanwhile
// coordinators, the service and the store are killed with signal 9 or paused for
// longer than a lease, and calls are delivered twice and late. In the end no money
// may be lost or made, every transaction must have ended as its client was told,
// and every branch must show exactly the effects that go with that end. A run in
// which a planned fault cannot be shown to have happened fails as inconclusive.
//
// TestKillPoints kills a coordinator at each of its calls to a store and to
// participants, and lets another one finish.
//
// With BEDROCK_BANK=5m in the environment every cell goes on for that long.
package bank
