// Command mutex has two services that must not both ship an order. Both want order 42 at
// the same moment: one ships it, the other one waits, looks, and leaves it. Then one of
// them is paused for longer than its lease lasts, and wakes up when the other one has
// the lock: the shelf refuses it, by its token.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	store := memlock.NewStore(nil) // services on several hosts share a Redis instead: redislock.New
	var services [2]*service
	goods := newShelf()
	for i, name := range []string{"north", "south"} {
		locks, err := memlock.New(store, nil)
		if err != nil {
			return err
		}
		defer func() { _ = locks.Stop(ctx) }()
		services[i] = &service{name: name, locks: locks, shelf: goods}
	}
	if err := shipAtOnce(ctx, services[:], 42); err != nil {
		return err
	}
	fmt.Fprintf(out, "order 42 was wanted by %d services, and shipped %d time\n", len(services), goods.count(42))
	return wakeTooLate(ctx, services[0], services[1], out)
}

// service ships orders.
type service struct {
	name  string
	locks *lock.Client
	shelf *shelf
}

// ship ships an order unless that was done. Looking and taking are two steps: between
// them nobody else may do the same.
func (s *service) ship(ctx context.Context, order int) error {
	mutex := s.locks.Mutex(fmt.Sprintf("orders/%d", order), nil)
	return lock.Do(ctx, mutex, func(_ context.Context, l *lock.Lease) error {
		if s.shelf.count(order) > 0 {
			return nil
		}
		return s.shelf.takeGoods(order, l.Token())
	}, nil)
}

// shipAtOnce has all services ship an order.
func shipAtOnce(ctx context.Context, services []*service, order int) error {
	var group sync.WaitGroup
	failures := make([]error, len(services))
	for i, s := range services {
		group.Go(func() { failures[i] = s.ship(ctx, order) })
	}
	group.Wait()
	return errors.Join(failures...)
}

// wakeTooLate has one service paused while it holds the lock, as by a long collection of
// garbage, and another one go on without it.
func wakeTooLate(ctx context.Context, paused, other *service, out io.Writer) error {
	// Fixed stands for the pause: nobody renews the lease.
	short := &lock.MutexOptions{TTL: 100 * time.Millisecond, Fixed: true}
	old, err := paused.locks.Mutex("orders/43", short).Lock(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s has the lock on order 43, and is paused\n", paused.name)
	if err := other.ship(ctx, 43); err != nil { // waits until the lease is over
		return err
	}
	fmt.Fprintf(out, "%s got it when the lease was over, and shipped\n", other.name)
	<-old.Context().Done()
	fmt.Fprintf(out, "%s wakes up: %v\n", paused.name, context.Cause(old.Context()))
	fmt.Fprintf(out, "and if it does not look: %v\n", paused.shelf.takeGoods(43, old.Token()))
	if err := old.Unlock(ctx); !errors.Is(err, lock.ErrLost) {
		return fmt.Errorf("unlocked what was lost: %w", err)
	}
	return nil
}
