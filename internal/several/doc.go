// Package several makes one lock of votes at several stores: what lock/quorum and lock/combination have in common.
//
// [Stores] are the stores, each a [Node]. A [Ballot] is what one owner has there: a vote of each node at most, which
// is asked for, renewed and given back. How many votes make a lock, and in which order they are asked for, is not
// decided here.
//
// At one node, the calls for one owner follow each other: a release never overtakes the request that it is to
// undo, however long that takes.
package several
