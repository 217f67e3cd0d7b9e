package memstore

import (
	"container/heap"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// An order is a kind of queue a record can be in.
type order int

const (
	byDue order = iota
	byTarget
	orders // how many there are
)

// nowhere is the place of an entry that is in no queue.
func nowhere() [orders]int { return [orders]int{-1, -1} }

// queue is a heap of the records of one shard, soonest due first.
type queue struct {
	order   order
	entries []*entry
}

// Len implements [heap.Interface].
func (q *queue) Len() int { return len(q.entries) }

// Less implements [heap.Interface].
func (q *queue) Less(i, j int) bool { return sooner(q.entries[i].rec, q.entries[j].rec) }

// Swap implements [heap.Interface].
func (q *queue) Swap(i, j int) {
	q.entries[i], q.entries[j] = q.entries[j], q.entries[i]
	q.entries[i].at[q.order], q.entries[j].at[q.order] = i, j
}

// Push implements [heap.Interface].
func (q *queue) Push(x any) {
	e := x.(*entry)
	e.at[q.order] = len(q.entries)
	q.entries = append(q.entries, e)
}

// Pop implements [heap.Interface].
func (q *queue) Pop() any {
	last := len(q.entries) - 1
	e := q.entries[last]
	q.entries[last] = nil // or the array would keep it
	q.entries = q.entries[:last]
	e.at[q.order] = -1
	return e
}

// sooner reports whether a comes before b by due time; what has none comes last.
func sooner(a, b *driver.Record) bool {
	switch {
	case a.Due.Equal(b.Due):
		return a.ID < b.ID
	case a.Due.IsZero() || b.Due.IsZero():
		return b.Due.IsZero()
	default:
		return a.Due.Before(b.Due)
	}
}

// index is a queue per shard.
type index struct {
	queues [driver.Shards]queue
	size   int
}

func newIndex(o order) *index {
	x := &index{}
	for i := range x.queues {
		x.queues[i].order = o
	}
	return x
}

func (x *index) add(e *entry) {
	heap.Push(&x.queues[driver.Shard(e.rec.ID)], e)
	x.size++
}

func (x *index) remove(e *entry) {
	q := &x.queues[driver.Shard(e.rec.ID)]
	heap.Remove(q, e.at[q.order])
	x.size--
}

// soonest is the first of the shards from <= shard < to, nil if there is none.
func (x *index) soonest(from, to int) *entry {
	var first *entry
	for i := from; i < to; i++ {
		q := x.queues[i].entries
		if len(q) > 0 && (first == nil || sooner(q[0].rec, first.rec)) {
			first = q[0]
		}
	}
	return first
}

// replaceRecord makes rec the entry's record, and claimable as it says.
func (s *Store) replaceRecord(e *entry, rec *driver.Record) {
	s.removeFromQueues(e)
	e.rec = rec
	if rec.Parked != "" || rec.Status.Final() {
		return
	}
	if !rec.Due.IsZero() {
		s.due.add(e)
	}
	if rec.Waits != "" {
		s.waitingFor(rec.Waits).add(e)
	}
}

// removeFromQueues takes the entry out of all queues.
func (s *Store) removeFromQueues(e *entry) {
	if e.at[byDue] >= 0 {
		s.due.remove(e)
	}
	if e.at[byTarget] < 0 {
		return
	}
	x := s.waits[e.rec.Waits]
	x.remove(e)
	if x.size == 0 {
		delete(s.waits, e.rec.Waits)
	}
}

// waitingFor is the index of a target.
func (s *Store) waitingFor(target string) *index {
	x := s.waits[target]
	if x == nil {
		x = newIndex(byTarget)
		s.waits[target] = x
	}
	return x
}
