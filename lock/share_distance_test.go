package lock_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/memlock"
)

// nextDoor is the way to the store of a process right beside it.
const nextDoor = 100 * time.Microsecond

// distant is a store in memory at the end of a line on which everything takes its
// time, each way: requests, answers and wake-ups. Like Redis, it goes on counting a
// listener for a while after it has gone.
type distant struct {
	driver.Backend
	way    time.Duration
	uneven bool // every fourth time it takes twice as long

	mu     sync.Mutex
	topics map[string]*distantTopic
}

// lingering is for how long a listener who has gone still counts.
const lingering = time.Second

func newDistant(store *memlock.Store, way time.Duration) *distant {
	return &distant{Backend: memlock.NewBackend(store), way: way, topics: make(map[string]*distantTopic)}
}

// time is how long one way takes.
func (d *distant) time() time.Duration {
	if d.uneven && rand.N(4) == 0 {
		return 2 * d.way
	}
	return d.way + rand.N(d.way/10)
}

// travel passes the time of one way; no two of them take equally long.
func (d *distant) travel(ctx context.Context) error {
	timer := time.NewTimer(d.time())
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Now implements [driver.Timekeeper].
func (d *distant) Now() time.Duration { return d.Backend.(driver.Timekeeper).Now() }

func (d *distant) Acquire(ctx context.Context, req driver.Request) (driver.Grant, error) {
	if err := d.travel(ctx); err != nil {
		return driver.Grant{}, err
	}
	grant, err := d.Backend.Acquire(ctx, req)
	if late := d.travel(ctx); late != nil {
		return driver.Grant{}, late
	}
	return grant, err
}

func (d *distant) Release(ctx context.Context, g driver.Grant) (int, error) {
	if err := d.travel(ctx); err != nil {
		return 0, err
	}
	waiting, err := d.Backend.Release(ctx, g)
	if late := d.travel(ctx); late != nil {
		return 0, late
	}
	return waiting, err
}

// Downgrade implements [driver.Downgrader].
func (d *distant) Downgrade(ctx context.Context, g driver.Grant) error {
	if err := d.travel(ctx); err != nil {
		return err
	}
	err := d.Backend.(driver.Downgrader).Downgrade(ctx, g)
	if late := d.travel(ctx); late != nil {
		return late
	}
	return err
}

// Watch implements [driver.Waiter].
func (d *distant) Watch(ctx context.Context, name string, _ driver.Kind) (driver.Watch, error) {
	w, listening, err := d.join(ctx, name)
	if err != nil || listening {
		return w, err
	}
	if err := d.travel(ctx); err != nil {
		w.Close()
		return nil, err
	}
	if err := d.travel(ctx); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

func (d *distant) join(ctx context.Context, name string) (w *distantWatch, listening bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.topics[name]
	if t == nil {
		t = &distantTopic{d: d, name: name, watches: make(map[*distantWatch]struct{}), stop: make(chan struct{})}
		if t.inner, err = d.Backend.(driver.Waiter).Watch(ctx, name, driver.Mutex); err != nil {
			return nil, false, err
		}
		d.topics[name] = t
		go t.run()
	} else {
		listening = true
	}
	w = &distantWatch{topic: t, c: make(chan struct{}, 1)}
	t.watches[w] = struct{}{}
	return w, listening, nil
}

// distantTopic is what the watches of one name share.
type distantTopic struct {
	d       *distant
	name    string
	inner   driver.Watch
	watches map[*distantWatch]struct{} // guarded by d.mu
	stop    chan struct{}
}

func (t *distantTopic) run() {
	for {
		select {
		case <-t.inner.C():
			time.AfterFunc(t.d.time(), t.wake)
		case <-t.stop:
			t.inner.Close()
			return
		}
	}
}

func (t *distantTopic) wake() {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	for w := range t.watches {
		w.count.Add(1)
		select {
		case w.c <- struct{}{}:
		default:
		}
	}
}

// end ends the subscription if nobody has come.
func (t *distantTopic) end() {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	if len(t.watches) == 0 && t.d.topics[t.name] == t {
		delete(t.d.topics, t.name)
		close(t.stop)
	}
}

// Close ends the subscriptions, which end with their connection.
func (d *distant) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.topics {
		close(t.stop)
	}
	clear(d.topics)
	return d.Backend.Close()
}

type distantWatch struct {
	topic *distantTopic
	c     chan struct{}
	count atomic.Uint64
}

func (w *distantWatch) C() <-chan struct{} { return w.c }

func (w *distantWatch) Count() uint64 { return w.count.Load() }

func (w *distantWatch) Close() {
	d := w.topic.d
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(w.topic.watches, w)
	if len(w.topic.watches) == 0 {
		time.AfterFunc(lingering, w.topic.end)
	}
}
