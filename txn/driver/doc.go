// Package driver is what a store of transactions implements: a row per
// transaction, written only on condition, and an index of what is due.
//
// A store knows nothing of modes, branches or calls. It keeps two opaque blobs
// per record (what was asked, what happened) and the columns it must compare or
// search. Everything a coordinator promises rests on three rules:
//
//   - Update replaces a record only if the revision and the epoch stored are
//     those the writer has seen. A writer that was overtaken is refused.
//   - Claim hands a due record to one owner at a time, raises its epoch, and
//     compares due times with the store's own clock.
//   - What Create, Update and Delete have acknowledged survives the store's
//     crash, as far as that store promises anything at all.
//
// Applications use package txn.
package driver
