package redisstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// A batcher sends the commands of many goroutines. What they ask for while
// pipelines are under way goes together in the next one, so that dozens share a
// round trip; who comes alone is served at once.
//
// The pipelines are run by the batcher's own goroutines, so that a caller can
// leave when its context ends, whatever go-redis makes of contexts.
type batcher struct {
	client  redis.UniversalClient
	queue   chan *request
	quit    chan struct{}
	workers sync.WaitGroup
}

const (
	// batchWorkers is how many pipelines are under way at most: one is being
	// answered while the next is being made up.
	batchWorkers = 2
	// largestBatch bounds how many commands go together, more or less.
	largestBatch = 128
	// closeGrace is how long Close waits for pipelines under way.
	closeGrace = 50 * time.Millisecond
)

// request is one goroutine's part of a pipeline.
type request struct {
	commands []*command
	state    atomic.Int32
	done     chan struct{}
}

// A request is withdrawn by its goroutine or claimed by a worker, whoever comes
// first.
const (
	requestWaiting int32 = iota
	requestClaimed
	requestWithdrawn
)

func newBatcher(client redis.UniversalClient) *batcher {
	b := &batcher{client: client, queue: make(chan *request, 4*largestBatch), quit: make(chan struct{})}
	for range batchWorkers {
		b.workers.Go(b.work)
	}
	return b
}

// send runs commands. The error says that they got no answer, and whether they
// may have been sent; then they must not be touched again. Otherwise each has
// its own.
func (b *batcher) send(ctx context.Context, commands ...*command) error {
	if err := ctx.Err(); err != nil {
		return notSent(err)
	}
	r := &request{commands: commands, done: make(chan struct{})}
	select {
	case <-b.quit:
		return driver.ErrClosed
	default:
	}
	select {
	case b.queue <- r:
	case <-ctx.Done():
		return notSent(ctx.Err())
	case <-b.quit:
		return driver.ErrClosed
	}
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return r.withdraw(ctx.Err())
	case <-b.quit:
		return r.withdraw(driver.ErrClosed)
	}
}

// withdraw leaves a request behind, and tells whether it may have been sent.
func (r *request) withdraw(cause error) error {
	switch {
	case r.state.CompareAndSwap(requestWaiting, requestWithdrawn):
		return notSent(cause)
	case errors.Is(cause, driver.ErrClosed):
		return errLeftBehind // the other would say that nothing is written
	default:
		return cause
	}
}

// errLeftBehind says that a store was closed while a server was at work.
var errLeftBehind = errors.New("store was closed before there was an answer")

// notSent says that nothing happened.
func notSent(cause error) error { return fmt.Errorf("%w: %w", driver.ErrUnavailable, cause) }

// work runs pipeline after pipeline.
func (b *batcher) work() {
	var batch []*request
	for {
		select {
		case first := <-b.queue:
			batch = b.gather(batch[:0], first)
			b.serve(batch)
			clear(batch)
		case <-b.quit:
			return
		}
	}
}

// gather claims first and those who wait with it.
func (b *batcher) gather(batch []*request, first *request) []*request {
	size := 0
	for r := first; r != nil; {
		if r.state.CompareAndSwap(requestWaiting, requestClaimed) {
			batch = append(batch, r)
			size += len(r.commands)
		}
		r = nil
		if size < largestBatch {
			select {
			case r = <-b.queue:
			default:
			}
		}
	}
	return batch
}

// serve sends a batch, and once more in full what the server does not know.
func (b *batcher) serve(batch []*request) {
	commands := make([]*command, 0, largestBatch)
	for _, r := range batch {
		commands = append(commands, r.commands...)
	}
	b.exec(commands)
	unknown := commands[:0]
	for _, c := range commands {
		if c.unknownScript() {
			c.inFull()
			unknown = append(unknown, c)
		}
	}
	b.exec(unknown)
	for _, r := range batch {
		close(r.done)
	}
}

func (b *batcher) exec(commands []*command) {
	if len(commands) == 0 {
		return
	}
	ctx := context.Background() // the callers have theirs
	pipe := b.client.Pipeline()
	for _, c := range commands {
		_ = pipe.Process(ctx, c) // a pipeline only collects here
	}
	_, _ = pipe.Exec(ctx) // every command has its own error
}

// close ends the workers. One that waits for a server that does not answer is
// left to its client's own time-out.
func (b *batcher) close() {
	close(b.quit)
	ended := make(chan struct{})
	go func() {
		b.workers.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(closeGrace):
	}
}
