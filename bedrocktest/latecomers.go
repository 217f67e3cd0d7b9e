package bedrocktest

import "sync"

// latecomers are the calls that are delayed or frozen. It is no wait group: one may
// come while somebody already waits.
type latecomers struct {
	mu   sync.Mutex
	n    int
	gone chan struct{} // closed when none is left; nil when nobody waits
}

func (l *latecomers) add() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
}

func (l *latecomers) remove() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n--; l.n == 0 && l.gone != nil {
		close(l.gone)
		l.gone = nil
	}
}

// waitNone returns when none is left.
func (l *latecomers) waitNone() {
	l.mu.Lock()
	if l.n == 0 {
		l.mu.Unlock()
		return
	}
	if l.gone == nil {
		l.gone = make(chan struct{})
	}
	gone := l.gone
	l.mu.Unlock()
	<-gone
}
