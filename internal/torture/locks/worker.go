package locks

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/torture/history"
	"github.com/bedrock-go/bedrock/internal/torture/nemesis"
	"github.com/bedrock-go/bedrock/internal/torture/stage"
	"github.com/bedrock-go/bedrock/lock"
)

// worker is a worker process.
type worker struct {
	job
	book *history.Writer
	ops  atomic.Int64
	kept atomic.Int64 // leases of keepers since the last tally
	// passed is how often the server has passed a lock on to this worker since then.
	passed atomic.Int64
}

// Work is a worker process: it takes and leaves locks until its standard input ends.
func Work(ctx context.Context, getenv func(string) string, stdin io.Reader) error {
	w := &worker{}
	if err := stage.Job(getenv, &w.job); err != nil {
		return err
	}
	var err error
	if w.book, err = history.Create(w.Dir, w.Life); err != nil {
		return err
	}
	ctx, cancel := stage.UntilDismissed(ctx, stdin)
	defer cancel()
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	var watch sync.WaitGroup
	watch.Go(func() {
		history.Stalls(watching, func(from, to time.Duration) { w.add(&event{Kind: kindStall, From: from, At: to}) })
	})
	watch.Go(func() { w.tally(watching) })
	w.add(&event{Kind: kindBorn, N: runtime.NumGoroutine(), M: os.Getpid()})
	err = w.useClients(ctx)
	w.waitQuiet()
	w.add(&event{Kind: kindGone, N: runtime.NumGoroutine()})
	stop()
	watch.Wait()
	if failed := w.book.Close(); err == nil {
		err = failed
	}
	return err
}

func (w *worker) add(e *event) {
	if e.At == 0 {
		e.At = history.Now()
	}
	w.book.Add(e)
}

// tally counts the leases of keepers every second: one line each would be most of the
// history.
func (w *worker) tally(ctx context.Context) {
	for sleep.For(ctx, time.Second) {
		w.add(&event{Kind: kindTally, N: int(w.kept.Swap(0)), M: int(w.passed.Swap(0))})
	}
	w.add(&event{Kind: kindTally, N: int(w.kept.Swap(0)), M: int(w.passed.Swap(0))})
}

// restPatience is how long what a closed client has left behind may still run.
const restPatience = 3 * time.Second

// waitQuiet waits until closed clients have left no goroutine behind, or for too long.
func (w *worker) waitQuiet() {
	ctx, cancel := context.WithTimeout(context.Background(), restPatience)
	defer cancel()
	for runtime.NumGoroutine() > restGoroutines && sleep.For(ctx, 10*time.Millisecond) {
	}
}

// restGoroutines are those of a worker without clients: the main one, two that watch,
// one that reads standard input, one or two that wait for signals.
const restGoroutines = 6

// useClients uses every client in turn with others of its kind.
func (w *worker) useClients(ctx context.Context) error {
	openers := map[target]opener{} // clients of one memory share it
	var all sync.WaitGroup
	defer all.Wait()
	for i := range w.callers() {
		all.Go(func() { w.runCaller(ctx, rand.New(rand.NewPCG(w.Seed, uint64(i)<<32))) })
	}
	for i, t := range w.Clients {
		if openers[t] == nil {
			open, err := newOpener(t, w.dress)
			if err != nil {
				return err
			}
			openers[t] = open
		}
		open := openers[t]
		all.Go(func() { w.useClient(ctx, i+1, open) })
	}
	return nil
}

func (w *worker) callers() int {
	if w.Server == "" {
		return 0
	}
	return numCallers
}

// The least and most time between the closing of two clients.
const (
	shortLife = 3 * time.Second
	longLife  = 12 * time.Second
)

// useClient opens a client again and again, and closes it in the middle of everything.
func (w *worker) useClient(ctx context.Context, number int, open opener) {
	random := rand.New(rand.NewPCG(w.Seed, uint64(number)))
	for round := 1; ctx.Err() == nil; round++ {
		s, err := open(lock.Options{TTL: w.TTL, HandOff: w.HandOff})
		if err != nil {
			if !sleep.For(ctx, 100*time.Millisecond) {
				break
			}
			continue // the server may be away
		}
		c := &customer{worker: w, session: s, number: number*1000 + round}
		c.useLocks(ctx, random)
	}
}

// customer is one client in its time.
type customer struct {
	*worker

	session *session
	number  int
	over    chan struct{} // closed when the client is about to be closed
}

func (c *customer) useLocks(ctx context.Context, random *rand.Rand) {
	c.over = make(chan struct{})
	var all sync.WaitGroup
	for i := range c.Hands + 2 {
		h := &hand{customer: c, random: rand.New(rand.NewPCG(random.Uint64(), 1))}
		switch i {
		case 0:
			h.duty = faithful
		case 1:
			h.duty = paired
		}
		all.Go(h.run)
	}
	for i := range c.Keepers {
		k := &keeper{customer: c, random: rand.New(rand.NewPCG(random.Uint64(), 2)), name: c.keepersName(i)}
		all.Go(k.run)
	}
	sleep.For(ctx, nemesis.Between(random, shortLife, longLife))
	c.close(nemesis.Between(random, 200*time.Millisecond, 2*time.Second))
	all.Wait()
}

func (c *customer) keepersName(i int) string {
	return fmt.Sprintf("%skeep/%s/%d/%d", c.Prefix, c.Life, c.number, i)
}

// close closes the client while it is being used.
func (c *customer) close(limit time.Duration) {
	close(c.over)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c.add(&event{Kind: kindClosing, Client: c.number, Until: history.Now() + limit})
	err := c.session.Stop(ctx)
	c.add(&event{Kind: kindClosed, Client: c.number, Class: classOf(err), Text: textOf(err)})
	c.session.hangUp()
}

func (c *customer) isOver() bool {
	select {
	case <-c.over:
		return true
	default:
		return false
	}
}
