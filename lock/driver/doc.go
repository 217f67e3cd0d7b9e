// Package driver defines what a lock backend implements.
//
// A backend grants, renews and releases leases; that is all. Each method tries
// once and returns. Waiting, queueing, renewal, re-entry, loss detection and
// observation live once, in package lock, for every backend.
//
// # What is left behind
//
// Package lock must know what an error leaves behind in the store, because a
// grant nobody knows of blocks everybody else. Every error therefore belongs to
// one of four classes:
//
//   - [ErrHeld]: the store answered, somebody else has the lock.
//   - [ErrRefused]: the store answered, nothing happened, and asking again will
//     not help (wrong password, wrong type under the key, unsupported request).
//   - [ErrUnavailable]: nothing happened, and asking again may help (connection
//     refused, fail-over under way, out of memory, too few replicas).
//   - anything else: unknown. The request may have taken effect, or may still
//     take effect. Package lock resolves it by releasing the owner's grant.
//
// # Context
//
// Every method returns promptly, well within 200 ms, when its context ends,
// also while the server is frozen. A backend whose client library cannot do that
// runs the call in a goroutine of its own.
package driver
