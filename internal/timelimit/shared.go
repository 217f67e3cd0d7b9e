// Package timelimit bounds calls by a time, and costs those that are answered in time
// nothing: calls that begin at about the same time share one timer.
package timelimit

import (
	"context"
	"sync/atomic"
	"time"
)

// Shared has the limit of all calls that may take equally long.
type Shared struct {
	life    context.Context //nolint:containedctx // whose end is that of every limit
	length  time.Duration
	present atomic.Pointer[span]
}

// span is the limit of the calls that begin within some time.
type span struct {
	ctx   context.Context //nolint:containedctx // it is the limit
	free  context.CancelFunc
	began time.Duration
}

// spans is how many of them there are in the length of a limit.
const spans = 8

// NewShared returns the limit of calls that may take so long. It ends with life, too.
func NewShared(life context.Context, length time.Duration) *Shared {
	return &Shared{life: life, length: length}
}

// Present returns the limit of calls that begin now: a context that ends when its time is
// over, or up to an eighth of that sooner. Now is by any clock that goes on while the process
// is paused: the timer that ends a span is late then.
func (s *Shared) Present(now time.Duration) context.Context {
	for {
		p := s.present.Load()
		if p != nil && now-p.began <= s.length/spans {
			return p.ctx
		}
		s.beginSpan(p, now)
	}
}

// beginSpan makes a limit for those who come soon, in place of old. Where several do, the
// first counts.
func (s *Shared) beginSpan(old *span, now time.Duration) {
	next := &span{began: now}
	next.ctx, next.free = context.WithTimeout(s.life, s.length)
	if !s.present.CompareAndSwap(old, next) {
		next.free()
		return
	}
	time.AfterFunc(s.length/spans, func() { s.present.CompareAndSwap(next, nil) })
}
