package driver

import (
	"hash/fnv"
	"time"
)

// Shards is the number of parts the due-time index is split into, so that
// claims of several workers and replicas do not meet.
const Shards = 64

// Record is one transaction as a store keeps it.
type Record struct {
	ID   string
	Mode string // saga, tcc, msg, …
	Name string // what its user calls it, such as "order"

	// Digest identifies the content submitted under this ID, so that a repeated
	// submit is told from another transaction with the same ID.
	Digest string

	Status Status
	// Parked says why the record waits for a person; empty otherwise.
	Parked string
	// Waits names the target whose recovery ends the pause of this record before it is due.
	Waits string

	// Owner drives the record until Due; Epoch counts the owners it has had.
	Owner string
	Epoch int64
	// Revision counts the writes.
	Revision int64
	// Due is when anybody may claim the record. Zero: never.
	Due time.Time

	// Deadline is when an undecided transaction is rolled back. Zero: never.
	Deadline time.Time
	Created  time.Time
	Updated  time.Time
	Finished time.Time // zero while it is not final

	Spec  []byte // what was asked; never changes once the record is not open
	State []byte // what has happened
}

// Version is the condition of a write: what the writer has seen.
type Version struct {
	Revision int64
	Epoch    int64
	// Created tells the record from an earlier one with its ID, which was removed since:
	// that had the same revisions and epochs. Microseconds since 1970; 0: none.
	Created int64
}

// Version is what a writer of this record must state.
func (r *Record) Version() Version {
	v := Version{Revision: r.Revision, Epoch: r.Epoch}
	if !r.Created.IsZero() {
		v.Created = r.Created.UnixMicro()
	}
	return v
}

// Clone copies the record with its blobs.
func (r *Record) Clone() *Record {
	c := *r
	c.Spec = append([]byte(nil), r.Spec...)
	c.State = append([]byte(nil), r.State...)
	return &c
}

// Shard is the part of the due-time index that an ID belongs to.
func Shard(id string) int {
	h := fnv.New32a()
	h.Write([]byte(id))
	return int(h.Sum32() % Shards)
}
