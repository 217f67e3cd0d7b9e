package several

import "sync"

// work counts what goes on in the background. Unlike a [sync.WaitGroup] it may be waited for while more is begun:
// whoever calls a backend that is being closed must not end the process.
type work struct {
	mu     sync.Mutex
	count  int
	idle   chan struct{} // closed when nothing goes on; nil while nothing does
	closed bool          // what begins now is not counted
}

// Go does something in the background.
func (w *work) Go(do func()) {
	if !w.add() {
		go do()
		return
	}
	go func() {
		defer w.done()
		do()
	}()
}

func (w *work) add() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	if w.count++; w.idle == nil {
		w.idle = make(chan struct{})
	}
	return true
}

func (w *work) done() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count--; w.count == 0 {
		close(w.idle)
		w.idle = nil
	}
}

// whenIdle returns what is closed when nothing goes on any more; nil if nothing does.
func (w *work) whenIdle() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.idle
}

// close ends the counting, and returns what is closed when all is over that was counted; nil if it is.
func (w *work) close() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	return w.idle
}
