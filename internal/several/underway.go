package several

import "sync"

// underway counts what goes on that is worth waiting for.
type underway struct {
	mu    sync.Mutex
	n     int
	ended chan struct{} // closed when all has ended; nil if nothing goes on
}

func (u *underway) add() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.n++; u.n == 1 {
		u.ended = make(chan struct{})
	}
}

func (u *underway) remove() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.n--; u.n == 0 {
		close(u.ended)
		u.ended = nil
	}
}

// whenEnded returns what tells that all has ended, nil if nothing goes on.
func (u *underway) whenEnded() <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.ended
}
