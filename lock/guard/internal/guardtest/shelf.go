package guardtest

import (
	"context"
	"sync"
	"testing"

	"github.com/bedrock-go/bedrock/lock/guard"
)

// Shelf is what a service keeps: one value.
type Shelf struct {
	mu    sync.Mutex
	value string
}

// Put replaces the value.
func (s *Shelf) Put(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.value = value
}

// Value reads it.
func (s *Shelf) Value(*testing.T) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.value
}

// Client is a [Writer] that sends one call for each: to announce a ticket it reads.
type Client struct {
	Get func(ctx context.Context) error
	Put func(ctx context.Context, value string) error
}

// Announce implements [guard.Store].
func (c Client) Announce(ctx context.Context, t guard.Ticket) error {
	return c.Get(guard.ContextWithTicket(ctx, t))
}

// Write implements [Writer].
func (c Client) Write(ctx context.Context, t guard.Ticket, value string) error {
	return c.Put(guard.ContextWithTicket(ctx, t), value)
}
