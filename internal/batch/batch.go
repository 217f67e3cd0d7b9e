// Package batch lets many goroutines share calls. What they want while calls are under
// way goes together in the next one, so that dozens share a round trip; who comes alone
// is served at once.
//
// The calls are made by the batcher's own goroutines, so that a caller can leave when
// its context ends, whatever a client library makes of contexts. Nothing is promised
// about the order of requests: what must keep an order, as writes of one record of an
// SQL store do, or is answered later than its call ends, has a writer of its own.
package batch

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/timelimit"
	"github.com/bedrock-go/bedrock/internal/underway"
)

// Options say how a [Batcher] works.
type Options[W any] struct {
	// Workers is how many calls are under way at most. With two, one is being answered
	// while the next is being made up.
	Workers int
	// Most bounds the size of a batch; the last request taken may go beyond it.
	Most int
	// Size is that of a request. Defaults to 1.
	Size func(want W) int
}

// closeGrace is how long Close waits for calls under way.
const closeGrace = 50 * time.Millisecond

// Batcher makes calls for many goroutines. W is what one of them wants, A the answer.
type Batcher[W, A any] struct {
	opts      Options[W]
	newServer func() Server[W, A]

	queue   chan *Request[W, A]
	quit    chan struct{}
	start   sync.Once
	closing sync.Once
	workers sync.WaitGroup
	spare   sync.Pool // of requests
}

// Server makes one call for all requests, or several, and answers each request once. It
// belongs to one worker, so it may keep memory from call to call.
type Server[W, A any] func(requests []*Request[W, A])

// New returns a batcher. It starts its workers with the first request.
func New[W, A any](opts Options[W], newServer func() Server[W, A]) *Batcher[W, A] {
	return &Batcher[W, A]{
		opts: opts, newServer: newServer,
		queue: make(chan *Request[W, A], 4*opts.Most), quit: make(chan struct{}),
		spare: sync.Pool{New: func() any { return &Request[W, A]{done: make(chan struct{}, 1)} }},
	}
}

// ErrClosed says that the batcher was closed.
var ErrClosed = errors.New("closed")

// UnsentError is the error of a request whose goroutine has left before anything was done
// for it: nothing ever will be.
type UnsentError struct {
	// Err is why it has left: its context's error, or [ErrClosed].
	Err error
}

// Error implements error.
func (e *UnsentError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *UnsentError) Unwrap() error { return e.Err }

// Do makes one request. An error is the server's; or an [*UnsentError], or an
// [*underway.Error] if a call for the request goes on when its goroutine has left.
func (b *Batcher[W, A]) Do(ctx context.Context, want W) (none A, err error) {
	if b.closed() { // the queue may have room, and a worker may look into it once more
		return none, &UnsentError{Err: ErrClosed}
	}
	b.start.Do(b.startWorkers)
	gone, late := timelimit.Ends(ctx)
	r := b.spare.Get().(*Request[W, A])
	r.Want = want
	r.state.Store(waiting)
	select {
	case b.queue <- r:
	case <-gone:
		return none, &UnsentError{Err: ctx.Err()}
	case <-late:
		return none, &UnsentError{Err: ctx.Err()}
	case <-b.quit:
		return none, &UnsentError{Err: ErrClosed}
	}
	select {
	case <-r.done:
		return b.recycle(r)
	case <-gone:
		return b.leaveBehind(r, ctx.Err())
	case <-late:
		return b.leaveBehind(r, ctx.Err())
	case <-b.quit:
		return b.leaveBehind(r, ErrClosed)
	}
}

// recycle takes the outcome out of a request nobody else knows any more.
func (b *Batcher[W, A]) recycle(r *Request[W, A]) (A, error) {
	answer, err := r.answer, r.err
	r.outcome = outcome[W, A]{}
	b.spare.Put(r)
	return answer, err
}

// leaveBehind takes a request back, or leaves it to the worker that has it, unless it
// was answered at that very moment.
func (b *Batcher[W, A]) leaveBehind(r *Request[W, A], cause error) (none A, err error) {
	switch {
	case r.state.CompareAndSwap(waiting, withdrawn):
		return none, &UnsentError{Err: cause}
	case r.state.CompareAndSwap(claimed, left):
		return none, &underway.Error{Err: cause, Ended: r.done}
	default:
		<-r.done
		return b.recycle(r)
	}
}

func (b *Batcher[W, A]) closed() bool {
	select {
	case <-b.quit:
		return true
	default:
		return false
	}
}

// Close ends the workers. One that waits for a server that does not answer is left to
// the time-out of its client. Nothing is sent for a request that comes later.
func (b *Batcher[W, A]) Close() {
	b.closing.Do(func() { close(b.quit) })
	b.start.Do(func() {}) // none is started any more
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
