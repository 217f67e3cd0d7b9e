package lock

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Locker returns the lock as a plain [sync.Locker], for code that knows nothing
// of contexts and errors. It therefore cannot say what went wrong: Lock goes on
// through every failure of the backend, which it logs, and panics when the
// client is closed; a lost lock is logged only. Unlock of a Locker that is not
// locked panics, as it does for a [sync.Mutex].
func (c *Client) Locker(name string) (sync.Locker, error) {
	m := c.Mutex(name, nil)
	if m.err != nil {
		return nil, m.err
	}
	return &locker{mutex: m, held: make(chan *Lease, 1)}, nil
}

// locker hands the lease from Lock to Unlock, which may run in another
// goroutine.
type locker struct {
	mutex *Mutex
	held  chan *Lease
}

// Lock implements [sync.Locker].
func (l *locker) Lock() {
	c := l.mutex.client
	for {
		lease, err := l.mutex.Lock(context.Background())
		if err == nil {
			l.held <- lease
			return
		}
		if errors.Is(err, ErrClosed) {
			panic(err)
		}
		c.opts.Logger.Warn("lock: locker goes on trying", "name", l.mutex.name, "err", err)
		c.sleep(time.Second)
	}
}

// Unlock implements [sync.Locker].
func (l *locker) Unlock() {
	select {
	case lease := <-l.held:
		if err := lease.Unlock(context.Background()); err != nil {
			l.mutex.client.opts.Logger.Warn("lock: locker", "name", l.mutex.name, "err", err)
		}
	default:
		panic(opError("unlock", l.mutex.name, errors.New("not locked")))
	}
}
