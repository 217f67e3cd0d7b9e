package client

import (
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// linger is for how long a stream outlives its watch if releases were heard by it, or the lock was passed on to who
// listened: processes that pass a lock to and fro need no stream each time, and no request to find out what came before
// there was one. Who has waited in vain does not count as waiting.
const linger = time.Second

// heardName is what somebody listens for.
type heardName struct {
	name string
	kind driver.Kind
}

// heardNames are the streams of a backend that may linger, one for each name.
type heardNames struct {
	mu  sync.Mutex
	all map[heardName]*heardStream
}

type heardStream struct {
	*releases

	left  bool // nobody has it
	times int  // how often it was left
}

// Resume implements [driver.Resumer].
func (b *backend) Resume(name string, kind driver.Kind) driver.Watch {
	if r := b.heard.takeLeft(heardName{name, kind}); r != nil {
		return &watch{releases: r}
	}
	return nil
}

// add enters a stream, unless there is another one of that name.
func (s *heardNames) add(r *releases) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = make(map[heardName]*heardStream)
	}
	if s.all[r.of] == nil {
		s.all[r.of] = &heardStream{releases: r}
	}
}

// leaveStream lets a stream linger that nobody has any more, if it is worth it. It reports whether it does.
func (s *heardNames) leaveStream(r *releases) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.all[r.of]
	if h == nil || h.releases != r {
		return false
	}
	if !r.useful.Load() || !r.up.Load() {
		delete(s.all, r.of)
		return false
	}
	h.left = true
	h.times++
	times := h.times
	time.AfterFunc(linger, func() { s.endLeft(h, times) })
	return true
}

// takeLeft returns a stream that lingers, and hears at this moment.
func (s *heardNames) takeLeft(of heardName) *releases {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.all[of]
	if h == nil || !h.left || !h.up.Load() {
		return nil
	}
	h.left = false
	return h.releases
}

// endLeft ends a stream that nobody has had since it was left.
func (s *heardNames) endLeft(h *heardStream, times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.left && h.times == times {
		delete(s.all, h.of)
		h.cancel()
	}
}

// noteUse notes that a lock was passed on to who listens for it.
func (s *heardNames) noteUse(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.all[heardName{name, driver.Mutex}]; h != nil {
		h.useful.Store(true)
	}
}
