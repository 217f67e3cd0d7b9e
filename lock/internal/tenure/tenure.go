// Package tenure ends grants whose time is over, for backends whose stores would keep them for longer: for as long as a
// session of the client lives, however many grants it has.
//
// It is no part of what keeps others out: who has a grant counts its time by itself, and the store takes everything
// back when the session ends. It is what lets the others in while the session lives.
package tenure

import (
	"context"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/internal/bootclock"
	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/wheel"
)

const (
	tickLength = time.Millisecond
	// longestSleep is how soon a suspend of the machine is noticed: timers stand still meanwhile.
	longestSleep = time.Second
	// pause is how long to wait before what could not be ended is tried again.
	pause = 100 * time.Millisecond
	// patience is the longest one try may take.
	patience = 5 * time.Second
)

// Book has the grants of a client, each by a key, with the time at which it ends. It is safe for concurrent use.
type Book[T any] struct {
	end    func(context.Context, T) error
	life   context.Context //nolint:containedctx // that of the book itself
	cancel context.CancelFunc
	ending sync.WaitGroup

	mu      sync.Mutex
	entries map[string]*entry[T]
	wheel   wheel.Wheel
	timer   *time.Timer
	due     []*wheel.Entry // reused
	closed  bool
}

type entry[T any] struct {
	wheel.Entry

	key   string
	value T
}

// New returns an empty book. What is over is given to end, which is repeated until it returns nil: the store has it no
// more. By then it is not in the book, and may be entered again under its key.
func New[T any](end func(context.Context, T) error) *Book[T] {
	b := &Book[T]{end: end, entries: make(map[string]*entry[T])}
	b.life, b.cancel = context.WithCancel(context.Background()) //nolint:gosec // Close calls it
	b.timer = time.AfterFunc(longestSleep, b.tick)
	b.timer.Stop()
	return b
}

// Put has a value end at a time of the boot clock, whatever has been said of that key before.
func (b *Book[T]) Put(key string, value T, at time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	e := b.entries[key]
	if e == nil {
		e = &entry[T]{key: key}
		e.Owner = e
		b.entries[key] = e
	}
	e.value = value
	b.schedule(e, at)
}

// Prolong has what is there under the key end at another time. It reports whether it is there.
func (b *Book[T]) Prolong(key string, at time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entries[key]
	if e == nil {
		return false
	}
	b.schedule(e, at)
	return true
}

// Get returns what is there under the key.
func (b *Book[T]) Get(key string) (value T, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.entries[key]; e != nil {
		return e.value, true
	}
	return value, false
}

// Take takes what is there under the key out of the book: it does not end by it any more.
func (b *Book[T]) Take(key string) (value T, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entries[key]
	if e == nil {
		return value, false
	}
	b.remove(e)
	return e.value, true
}

// Len returns how many there are.
func (b *Book[T]) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.entries)
}

// Close forgets everything, and waits for what is being ended.
func (b *Book[T]) Close() {
	b.mu.Lock()
	b.closed = true
	b.timer.Stop()
	clear(b.entries)
	b.mu.Unlock()
	b.cancel()
	b.ending.Wait()
}

// schedule sets the time of an entry. b.mu is held.
func (b *Book[T]) schedule(e *entry[T], at time.Duration) {
	now := bootclock.Now()
	if b.wheel.Len() == 0 {
		b.due = b.wheel.Advance(int64(now/tickLength), b.due[:0]) // it is empty, and may be far behind
	}
	b.wheel.Schedule(&e.Entry, int64((at+tickLength-1)/tickLength))
	b.arm(now)
}

// remove takes an entry out. b.mu is held.
func (b *Book[T]) remove(e *entry[T]) {
	delete(b.entries, e.key)
	b.wheel.Cancel(&e.Entry)
}

// arm has the timer fire when something may be due. b.mu is held.
func (b *Book[T]) arm(now time.Duration) {
	next, ok := b.wheel.Next()
	if !ok || b.closed {
		b.timer.Stop()
		return
	}
	b.timer.Reset(min(max(time.Duration(next)*tickLength-now, tickLength), longestSleep))
}

// tick ends what is due.
func (b *Book[T]) tick() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	now := bootclock.Now()
	b.due = b.wheel.Advance(int64(now/tickLength), b.due[:0])
	for _, due := range b.due {
		e, ok := due.Owner.(*entry[T])
		if !ok || b.entries[e.key] != e {
			continue
		}
		delete(b.entries, e.key)
		b.ending.Go(func() { b.endFor(e.value) })
	}
	b.arm(now)
}

// endFor ends a value, however often that takes.
func (b *Book[T]) endFor(value T) {
	for {
		ctx, cancel := context.WithTimeout(b.life, patience)
		err := b.end(ctx, value)
		cancel()
		if err == nil || !sleep.For(b.life, pause) {
			return
		}
	}
}
