package lockbench

import (
	"context"
	"math/rand/v2"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/multi"
)

// Kind is what the locks are.
type Kind struct {
	// Fair is a mutex that is had first come, first served.
	Fair bool
	// Writes is a read-write lock that so many of a hundred take to write, the others to read; -1: nobody writes.
	// 0: it is none.
	Writes int
	// Permits is a semaphore of so many permits, of which everybody takes one. 0: it is none.
	Permits int
	// Together is how many names are locked at a time. 0 and 1: one.
	Together int
}

// unlocker gives back what was taken.
type unlocker interface {
	Unlock(ctx context.Context) error
}

// taker takes what a contender contends for.
type taker func(ctx context.Context) (unlocker, error)

// takerOf takes what is at that place among the names.
func (k *Kind) takerOf(client *lock.Client, names []string, at int) taker {
	name := names[at%len(names)]
	switch {
	case k.Writes != 0:
		rw := client.RWMutex(name, nil)
		read, write := alone(rw.Reader()), alone(rw.Writer())
		return func(ctx context.Context) (unlocker, error) {
			if rand.N(100) < k.Writes {
				return write(ctx)
			}
			return read(ctx)
		}
	case k.Permits != 0:
		return alone(client.Semaphore(name, k.Permits, nil).Permits(1))
	case k.Together > 1:
		locks := make([]lock.Lockable, k.Together)
		for i := range locks {
			locks[i] = client.Mutex(names[(at+i)%len(names)], nil)
		}
		all := multi.New(locks, nil)
		return func(ctx context.Context) (unlocker, error) { return all.Lock(ctx) }
	default:
		return alone(client.Mutex(name, &lock.MutexOptions{Fair: k.Fair}))
	}
}

func alone(l lock.Lockable) taker {
	return func(ctx context.Context) (unlocker, error) { return l.Lock(ctx) }
}
