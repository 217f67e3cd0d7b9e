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
//     [ErrUnsupported] and what [Refused] makes are refusals, too.
//   - [ErrUnavailable]: nothing happened, and asking again may help (connection
//     refused, fail-over under way, out of memory, too few replicas).
//   - anything else: unknown. The request may have taken effect, or may still
//     take effect. Package lock resolves it by releasing the owner's grant.
//
// # What may be asked for
//
// [Request.Check] is the one list of what nobody may ask for, and its limits are the
// constants of this package. Whoever takes requests from others checks them, once: package
// lock its users', a server those of the network, and a backend that sends them over a
// network what it is about to send. A store need not: it refuses an owner that it could
// not tell from its own fields ([CheckOwner]), names it cannot keep apart, and every mode
// it does not keep, and fairness, and to be one of several stores, with [ErrUnsupported]
// ([Request.CheckExclusive]). To grant something else than what was asked for is worse than to refuse.
//
// # One owner, one fate
//
// Copies of a request can arrive late, and in any order. Package lock keeps to
// these rules, and a backend that repeats or releases by itself must, too:
//
//   - Acquire may be repeated under the same owner while no release of that owner
//     has been sent. Whichever copy arrives first is granted; the others find that
//     grant, and only make its TTL run anew.
//   - Once a release of an owner may have been sent, it is never asked for again: a
//     late copy of the release would end the new grant, and what is remembered of
//     the release would make the loss look like a success. Who goes on asks under
//     another owner. A backend that releases within Acquire says so with [ErrSpent].
//   - Release may be repeated at will, and Renew until the release: neither gives
//     anybody anything.
//   - Who gives an owner up releases it, and once more after every request under it
//     has ended: a late copy of Acquire would be granted to nobody.
//
// A request has ended when its call has returned, unless its error is an
// [*UnderwayError], which tells the end. What is then still on its way in the
// network is looked for once more, a moment later.
//
// # Context
//
// Every method returns promptly, well within 200 ms, when its context ends,
// also while the server is frozen. A backend whose client library cannot do that
// runs the call in a goroutine of its own, and returns an [*UnderwayError].
package driver
