package coord

import (
	"sync"

	"github.com/bedrock-go/bedrock/txn"
)

// news tells waiters in this process what becomes of transactions. Waiters on
// other replicas ask the store.
type news struct {
	mu   sync.Mutex
	byID map[string][]*listener
}

// listener waits for news of one transaction.
type listener struct {
	changed chan struct{}         // something was written
	end     chan *txn.Transaction // it is final or parked
}

func (n *news) listen(id string) *listener {
	l := &listener{changed: make(chan struct{}, 1), end: make(chan *txn.Transaction, 1)}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.byID == nil {
		n.byID = make(map[string][]*listener)
	}
	n.byID[id] = append(n.byID[id], l)
	return l
}

func (n *news) unlisten(id string, l *listener) {
	n.mu.Lock()
	defer n.mu.Unlock()
	rest := n.byID[id][:0:0]
	for _, other := range n.byID[id] {
		if other != l {
			rest = append(rest, other)
		}
	}
	if len(rest) == 0 {
		delete(n.byID, id)
		return
	}
	n.byID[id] = rest
}

// tellChanged says that something was written.
func (n *news) tellChanged(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range n.byID[id] {
		select {
		case l.changed <- struct{}{}:
		default:
		}
	}
}

// tellFinal says that a transaction is final or parked. The transaction must not change
// any more.
func (n *news) tellFinal(t *txn.Transaction) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range n.byID[t.ID] {
		select {
		case l.end <- t:
		default:
		}
	}
}
