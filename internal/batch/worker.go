package batch

import "sync/atomic"

// Request is what one goroutine wants, and what came of it.
type Request[W, A any] struct {
	outcome[W, A]

	state atomic.Int32
	done  chan struct{} // one slot; closed for who has left
}

type outcome[W, A any] struct {
	Want   W
	answer A
	err    error
}

// A request is withdrawn by its goroutine or claimed by a worker, whoever comes first;
// a claimed one is answered, or left behind by its goroutine.
const (
	waiting int32 = iota
	claimed
	withdrawn
	answered
	left
)

func (b *Batcher[W, A]) startWorkers() {
	for range b.opts.Workers {
		b.workers.Go(b.serveUntilClosed)
	}
}

func (b *Batcher[W, A]) serveUntilClosed() {
	serve := b.newServer()
	var batch []*Request[W, A]
	for {
		select {
		case first := <-b.queue:
			if batch = b.gather(batch[:0], first); len(batch) > 0 {
				serve(batch)
			}
			clear(batch)
		case <-b.quit:
			return
		}
	}
}

// gather claims first and those who wait with it.
func (b *Batcher[W, A]) gather(batch []*Request[W, A], r *Request[W, A]) []*Request[W, A] {
	for size := 0; ; {
		if r.state.CompareAndSwap(waiting, claimed) {
			batch = append(batch, r)
			size += b.sizeOf(r)
		}
		if size >= b.opts.Most {
			return batch
		}
		select {
		case r = <-b.queue:
		default:
			return batch
		}
	}
}

func (b *Batcher[W, A]) sizeOf(r *Request[W, A]) int {
	if b.opts.Size == nil {
		return 1
	}
	return b.opts.Size(r.Want)
}

// Answer ends a request: the call for it has ended, with an answer or an error. Its
// goroutine uses it again, so nobody may touch it after that.
func (r *Request[W, A]) Answer(answer A, err error) {
	r.answer, r.err = answer, err
	if r.state.CompareAndSwap(claimed, answered) {
		r.done <- struct{}{}
	} else {
		close(r.done)
	}
}
