package redislock

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// A batcher runs a script for many goroutines. What they ask for while calls
// are under way goes together in the next call, so that the server and the
// client have one command to deal with instead of dozens; who comes alone is
// served at once.
//
// The calls are made by the batcher's own goroutines, so that a caller can leave
// when its context ends, whatever the client library makes of contexts.
type batcher struct {
	conn    Conn
	script  *Script
	common  []string // the arguments before those of the requests
	queue   chan *request
	quit    chan struct{}
	start   sync.Once
	closing sync.Once
	workers sync.WaitGroup
	spare   sync.Pool // of requests
}

const (
	// batchWorkers is how many calls are under way at most: one is being
	// answered while the next is being made up.
	batchWorkers = 2
	// largestBatch bounds how long one script keeps the server busy.
	largestBatch = 64
	// closeGrace is how long Close waits for calls under way.
	closeGrace = 50 * time.Millisecond
)

// request is one goroutine's part of a call.
type request struct {
	keys, args []string
	state      atomic.Int32
	reply      Reply
	err        error
	done       chan struct{} // one slot; closed for who has left
}

// A request is withdrawn by its goroutine or claimed by a worker, whoever comes
// first; a claimed one is answered, or left behind by its goroutine.
const (
	requestWaiting int32 = iota
	requestClaimed
	requestWithdrawn
	requestAnswered
	requestLeft
)

func newBatcher(conn Conn, s *Script, common ...string) *batcher {
	return &batcher{
		conn: conn, script: s, common: common,
		queue: make(chan *request, 4*largestBatch), quit: make(chan struct{}),
		spare: sync.Pool{New: func() any { return &request{done: make(chan struct{}, 1)} }},
	}
}

// eval is one request. When ctx ends before it was sent, the error says that
// nothing happened; when it is under way, the error is a [*driver.UnderwayError].
func (b *batcher) eval(ctx context.Context, keys, args []string) (Reply, error) {
	b.start.Do(b.startWorkers)
	r := b.spare.Get().(*request)
	r.keys, r.args = keys, args
	r.state.Store(requestWaiting)
	select {
	case b.queue <- r:
	case <-ctx.Done():
		return Reply{}, notSent(ctx.Err())
	case <-b.quit:
		return Reply{}, errClosed
	}
	select {
	case <-r.done:
		return b.recycle(r)
	case <-ctx.Done():
		return b.withdraw(r, ctx.Err())
	case <-b.quit:
		return b.withdraw(r, errClosed)
	}
}

// recycle takes the outcome out of a request nobody else knows any more.
func (b *batcher) recycle(r *request) (Reply, error) {
	reply, err := r.reply, r.err
	r.keys, r.args, r.reply, r.err = nil, nil, Reply{}, nil
	b.spare.Put(r)
	return reply, err
}

// withdraw takes a request back, or leaves it behind if a worker has it, unless it
// was answered at that very moment.
func (b *batcher) withdraw(r *request, cause error) (Reply, error) {
	switch {
	case r.state.CompareAndSwap(requestWaiting, requestWithdrawn):
		return Reply{}, notSent(cause)
	case r.state.CompareAndSwap(requestClaimed, requestLeft):
		return Reply{}, &driver.UnderwayError{Err: cause, Ended: r.done}
	default:
		<-r.done
		return b.recycle(r)
	}
}

func (b *batcher) startWorkers() {
	for range batchWorkers {
		b.workers.Go(b.work)
	}
}

// work makes call after call.
func (b *batcher) work() {
	var c combined
	for {
		select {
		case first := <-b.queue:
			b.serve(&c, first)
		case <-b.quit:
			return
		}
	}
}

// combined is what goes together in a call. It is reused from call to call.
type combined struct {
	requests   []*request
	keys, args []string
}

// add takes a request in, unless it was withdrawn.
func (c *combined) add(r *request) {
	if r.state.CompareAndSwap(requestWaiting, requestClaimed) {
		c.requests = append(c.requests, r)
		c.keys = append(c.keys, r.keys...)
		c.args = append(c.args, r.args...)
	}
}

// serve makes one call for first and all who wait with it.
func (b *batcher) serve(c *combined, first *request) {
	c.requests, c.keys, c.args = c.requests[:0], c.keys[:0], append(c.args[:0], b.common...)
	c.add(first)
	for waiting := true; waiting && len(c.requests) < largestBatch; {
		select {
		case r := <-b.queue:
			c.add(r)
		default:
			waiting = false
		}
	}
	if len(c.requests) == 0 {
		return
	}
	b.call(c)
}

// call makes one call; or several, when one of the requests has kept the others
// from being looked at.
func (b *batcher) call(c *combined) {
	reply, err := b.conn.Eval(context.Background(), b.script, c.keys, c.args)
	if n := len(c.requests); n > 1 && spoiled(err) {
		b.call(c.part(b.common, 0, n/2))
		b.call(c.part(b.common, n/2, n))
		return
	}
	c.deliver(reply, err)
}

// part is some of the requests.
func (c *combined) part(common []string, from, to int) *combined {
	p := &combined{requests: c.requests[from:to], args: slices.Clone(common)}
	for _, r := range p.requests {
		p.keys = append(p.keys, r.keys...)
		p.args = append(p.args, r.args...)
	}
	return p
}

// deliver hands every request its own part of the answer.
func (c *combined) deliver(reply Reply, err error) {
	if err == nil && len(c.requests) > 1 && len(reply.Items) != len(c.requests) {
		err = errors.New("redislock: the script's answer has the wrong length")
	}
	for i, r := range c.requests {
		switch {
		case err != nil:
			r.err = err
		case len(c.requests) == 1:
			r.reply = reply
		default:
			r.reply, r.err = answer(reply.Items[i])
		}
		r.answered()
		c.requests[i] = nil
	}
}

// answered tells the request's goroutine that the call has ended.
func (r *request) answered() {
	if r.state.CompareAndSwap(requestClaimed, requestAnswered) {
		r.done <- struct{}{}
	} else {
		close(r.done)
	}
}

// answer tells a script's answer for one of several from its error.
func answer(reply Reply) (Reply, error) {
	if len(reply.Items) == 2 && reply.Items[0].Int == -1 {
		return Reply{}, &ReplyError{Cause: errors.New(reply.Items[1].Str)}
	}
	return reply, nil
}

// close ends the workers. One that waits for a server that does not answer is
// left to its client's own time-out.
func (b *batcher) close() {
	b.closing.Do(func() { close(b.quit) })
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
