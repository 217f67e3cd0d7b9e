package floor

import (
	"errors"
	"sync"
)

// most is how many records go to the store at once.
const most = 1024

// Group writes records, many at a time. Callers wait until theirs are durable.
type Group struct {
	queue chan entry
	close func() error
	done  sync.WaitGroup
}

// entry is a record on its way.
type entry struct {
	record []byte
	result chan<- error
}

// newGroup starts as many writers as there are flush functions: each has a
// connection of its own.
func newGroup(closeStore func() error, flushes ...func(records [][]byte) error) *Group {
	g := &Group{queue: make(chan entry, most), close: closeStore}
	for _, flush := range flushes {
		g.done.Go(func() { g.write(flush) })
	}
	return g
}

// Write returns when record is durable. The channel is the caller's own and holds
// one error; it spares an allocation for each record.
func (g *Group) Write(record []byte, result chan error) error {
	g.queue <- entry{record, result}
	return <-result
}

// Close ends the writers; nobody may be writing any more.
func (g *Group) Close() error {
	close(g.queue)
	g.done.Wait()
	return errors.Join(g.close())
}

// write takes whatever is queued and flushes it.
func (g *Group) write(flush func([][]byte) error) {
	var records [][]byte
	var results []chan<- error
	for e := range g.queue {
		records, results = append(records[:0], e.record), append(results[:0], e.result)
		for more := true; more && len(records) < most; {
			select {
			case e, open := <-g.queue:
				if more = open; open {
					records, results = append(records, e.record), append(results, e.result)
				}
			default:
				more = false
			}
		}
		err := flush(records)
		for _, r := range results {
			r <- err
		}
	}
}
