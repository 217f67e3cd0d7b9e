package guard

import (
	"context"
	"fmt"
	"sync"

	"github.com/bedrock-go/bedrock/lock"
)

// Options tune a [Memory]. Nil and the zero value are the defaults.
type Options struct {
	// Observer is told of every refusal, see [lock.EventRefused]. Defaults to nobody.
	Observer lock.Observer
}

// Memory guards what is in the memory of this process. It forgets with it, and keeps every name until then, some
// 100 bytes each. It may be used by many goroutines at once.
type Memory struct {
	observer lock.Observer

	mu     sync.Mutex
	fences map[string]*fence
}

// fence is what is remembered of a name.
type fence struct {
	turn   chan struct{} // has room for the one who checks, or works
	newest uint64        // only changed by who has the turn
}

// NewMemory returns a store that knows no token.
func NewMemory(opts *Options) *Memory {
	m := &Memory{fences: make(map[string]*fence)}
	if opts != nil {
		m.observer = opts.Observer
	}
	return m
}

// Announce implements [Store]. It waits for work that [Memory.Do] does under the same name.
func (m *Memory) Announce(ctx context.Context, t Ticket) error {
	return m.Do(ctx, t, func() error { return nil })
}

// Do checks a ticket and works, in one step: while the work goes on, no other ticket of the name is accepted, and
// none refused. So the work of a holder is over before the next one is let in. Its error is returned as it is. Work
// must not use the same name of the guard: it would wait for itself.
func (m *Memory) Do(ctx context.Context, t Ticket, work func() error) error {
	if err := t.Check(); err != nil {
		return fmt.Errorf("guard: %w", err)
	}
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("guard: %q: %w", t.Name, err)
	}
	f := m.fenceOf(t.Name)
	select {
	case f.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("guard: %q: %w", t.Name, context.Cause(ctx))
	}
	defer func() { <-f.turn }()
	if err := Compare(t, f.newest); err != nil {
		return Observed(ctx, m.observer, err)
	}
	f.newest = t.Token
	return work()
}

// fenceOf finds what is remembered of a name, or begins it.
func (m *Memory) fenceOf(name string) *fence {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.fences[name]
	if f == nil {
		f = &fence{turn: make(chan struct{}, 1)}
		m.fences[name] = f
	}
	return f
}
