package lock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// newLocks returns a client for the examples. A program on Redis has
// redislock.New here.
func newLocks() *lock.Client {
	locks, err := memlock.New(nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	return locks
}

func ExampleMutex() {
	ctx := context.Background()
	locks := newLocks()
	defer locks.Stop(ctx)

	lease, err := locks.Mutex("orders/42", nil).Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(lease.Name(), lease.State())

	_, err = locks.Mutex("orders/42", nil).TryLock(ctx)
	fmt.Println("again:", errors.Is(err, lock.ErrHeld))

	if err := lease.Unlock(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(lease.State())
	// Output:
	// orders/42 held
	// again: true
	// released
}

func ExampleDo() {
	ctx := context.Background()
	locks := newLocks()
	defer locks.Stop(ctx)

	ship := func(ctx context.Context, l *lock.Lease) error {
		fmt.Println("shipping, with a token:", l.Token() > 0)
		return ctx.Err()
	}
	if err := lock.Do(ctx, locks.Mutex("orders/42", nil), ship, nil); err != nil {
		fmt.Println(err)
		return
	}
	// Output: shipping, with a token: true
}

func ExampleDo_fallback() {
	ctx := context.Background()
	locks := newLocks()
	defer locks.Stop(ctx)

	lease, err := locks.Mutex("report", nil).Lock(ctx) // somebody else is at it
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lease.Unlock(ctx)

	write := func(context.Context, *lock.Lease) error { return nil }
	err = lock.Do(ctx, locks.Mutex("report", nil), write, &lock.DoOptions{
		Wait:     -1,
		Fallback: func(context.Context) error { fmt.Println("already being written"); return nil },
	})
	fmt.Println(err)
	// Output:
	// already being written
	// <nil>
}

// A context that carries the lease re-enters the lock; without it the inner
// function would wait for the outer one for ever.
func ExampleLease_Context() {
	ctx := context.Background()
	locks := newLocks()
	defer locks.Stop(ctx)

	inner := func(ctx context.Context) error {
		lease, err := locks.Mutex("account/7", nil).Lock(ctx)
		if err != nil {
			return err
		}
		fmt.Println("inside")
		return lease.Unlock(ctx)
	}
	lease, err := locks.Mutex("account/7", nil).Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := inner(lease.Context()); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("still", lease.State())
	if err := lease.Unlock(ctx); err != nil {
		fmt.Println(err)
		return
	}
	// Output:
	// inside
	// still held
}

// register is a resource that takes part in the exclusion: it refuses a token
// lower than the highest it has seen.
type register struct {
	value string
	token uint64
}

func (r *register) write(value string, token uint64) error {
	if token < r.token {
		return errors.New("the token is older than one seen before")
	}
	r.value, r.token = value, token
	return nil
}

// A holder that was paused may not know that it lost the lock. The resource
// does, by the token.
func ExampleLease_Token() {
	ctx := context.Background()
	locks := newLocks()
	defer locks.Stop(ctx)
	var shared register

	paused, err := locks.Mutex("register", nil).Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := locks.ForceRelease(ctx, "register"); err != nil {
		fmt.Println(err)
		return
	}
	err = paused.Unlock(ctx)
	fmt.Println("lost:", errors.Is(err, lock.ErrLost))

	next, err := locks.Mutex("register", nil).Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer next.Unlock(ctx)
	fmt.Println(shared.write("new", next.Token()))
	fmt.Println(shared.write("old", paused.Token()))
	// Output:
	// lost: true
	// <nil>
	// the token is older than one seen before
}

func ExampleClient_Locker() {
	locks := newLocks()
	defer locks.Stop(context.Background())

	mu, err := locks.Locker(locks.Mutex("cache", nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	mu.Lock()
	defer mu.Unlock()
	fmt.Println("alone")
	// Output: alone
}

func ExampleClient_Inspect() {
	ctx := context.Background()
	locks := newLocks()
	defer locks.Stop(ctx)

	lease, err := locks.Mutex("orders/42", &lock.MutexOptions{Meta: map[string]string{"job": "ship"}}).Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lease.Unlock(ctx)

	info, err := locks.Inspect(ctx, "orders/42")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(info.Held(), info.Holders[0].Owner == lease.Owner(), info.Holders[0].Meta["job"])
	// Output: true true ship
}

// Goroutines, and other processes, have a fair lock in the order in which they came for it.
func ExampleMutexOptions_fair() {
	ctx := context.Background()
	locks := newLocks()
	defer locks.Stop(ctx)

	printer := locks.Mutex("printer", &lock.MutexOptions{Fair: true})
	lease, err := printer.Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	var jobs sync.WaitGroup
	for i, job := range []string{"first", "second", "third"} {
		jobs.Go(func() {
			lease, err := printer.Lock(ctx)
			if err != nil {
				fmt.Println(err)
				return
			}
			defer lease.Unlock(ctx)
			fmt.Println(job)
		})
		for place := 0; place <= i; { // until it stands in line
			info, err := locks.Inspect(ctx, "printer")
			if err != nil {
				fmt.Println(err)
				return
			}
			place = len(info.Line)
		}
	}
	if err := lease.Unlock(ctx); err != nil {
		fmt.Println(err)
	}
	jobs.Wait()
	// Output:
	// first
	// second
	// third
}

func ExampleRWMutex() {
	ctx := context.Background()
	locks := newLocks()
	defer locks.Stop(ctx)

	index := locks.RWMutex("index", nil)
	one, err := index.RLock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer one.Unlock(ctx)
	other, err := index.RLock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer other.Unlock(ctx)

	_, err = index.TryLock(ctx)
	fmt.Println("two read, and nobody writes:", errors.Is(err, lock.ErrHeld))
	// Output: two read, and nobody writes: true
}

// Who reads, and may find that there is something to write.
func ExampleLease_Upgrade() {
	ctx := context.Background()
	locks := newLocks()
	defer locks.Stop(ctx)

	reading, err := locks.RWMutex("index", nil).RLockUpgradeable(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reading.Unlock(ctx)

	writing, err := reading.Upgrade(ctx) // waits for other readers; nobody else has written meanwhile
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("a higher token:", writing.Token() > reading.Token())
	if err := writing.Unlock(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("back to reading:", reading.State())
	// Output:
	// a higher token: true
	// back to reading: held
}

func ExampleSemaphore() {
	ctx := context.Background()
	locks := newLocks()
	defer locks.Stop(ctx)

	scrapers := locks.Semaphore("scrape", 3, nil)
	two, err := scrapers.LockN(ctx, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer two.Unlock(ctx)
	one, err := scrapers.Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer one.Unlock(ctx)

	_, err = scrapers.TryLock(ctx)
	fmt.Println("all three are taken:", errors.Is(err, lock.ErrHeld))
	// Output: all three are taken: true
}
