package coord

import (
	"container/list"
	"sync"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// Open transactions are changed again soon, by whoever began them: branches join, and the
// decision comes. The last of them, if they are small, are remembered as this coordinator
// wrote them, and need not be read before they are written again.
const (
	recentRecords = 1024
	recentBytes   = 16 << 10
)

// recent remembers records for their next write. Somebody else may have written them since,
// so they serve only for a write on condition that nobody has.
type recent struct {
	mu    sync.Mutex
	byID  map[string]*list.Element
	order *list.List // of *driver.Record; the oldest in front
}

func newRecent() *recent {
	return &recent{byID: make(map[string]*list.Element), order: list.New()}
}

// remember remembers a record that was written, if it is open. The record must not be
// changed any more.
func (r *recent) remember(rec *driver.Record) {
	if rec.Status != driver.Open || len(rec.Spec)+len(rec.State) > recentBytes {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remove(rec.ID)
	r.byID[rec.ID] = r.order.PushBack(rec)
	if r.order.Len() > recentRecords {
		r.remove(r.order.Front().Value.(*driver.Record).ID)
	}
}

// recall returns a record and forgets it; nil if it is not remembered.
func (r *recent) recall(id string) *driver.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.remove(id)
}

func (r *recent) remove(id string) *driver.Record {
	e, ok := r.byID[id]
	if !ok {
		return nil
	}
	delete(r.byID, id)
	return r.order.Remove(e).(*driver.Record)
}
