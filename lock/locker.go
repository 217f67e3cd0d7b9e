package lock

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// Locker returns a lock of the client as a plain [sync.Locker], for code that knows nothing
// of contexts and errors. It therefore cannot say what went wrong: Lock goes on
// through every failure of the backend, which it logs, and panics when the
// client is stopped, or the lock's options are not acceptable; a lost lock is logged
// only. Unlock of a Locker that is not locked panics, as it does for a [sync.Mutex].
func (c *Client) Locker(l Lockable) (sync.Locker, error) {
	if l == nil {
		return nil, &InvalidError{Field: "lock", Problem: "is nil"}
	}
	if err := driver.CheckName(l.Name()); err != nil {
		return nil, err
	}
	return &locker{client: c, lock: l, held: make(chan *Lease, 1)}, nil
}

// locker hands the lease from Lock to Unlock, which may run in another
// goroutine.
type locker struct {
	client *Client
	lock   Lockable
	held   chan *Lease
}

// Lock implements [sync.Locker].
func (l *locker) Lock() {
	for {
		lease, err := l.lock.Lock(context.Background())
		if err == nil {
			l.held <- lease
			return
		}
		if errors.Is(err, ErrClosed) || errors.Is(err, ErrInvalid) {
			panic(err)
		}
		l.client.opts.Logger.Warn("lock: locker goes on trying", "name", l.lock.Name(), "err", err)
		l.client.sleep(time.Second)
	}
}

// Unlock implements [sync.Locker].
func (l *locker) Unlock() {
	select {
	case lease := <-l.held:
		if err := lease.Unlock(context.Background()); err != nil {
			l.client.opts.Logger.Warn("lock: locker", "name", l.lock.Name(), "err", err)
		}
	default:
		panic(opError("unlock", l.lock.Name(), errors.New("not locked")))
	}
}
