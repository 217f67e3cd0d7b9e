package subject

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Forcible is implemented by mutexes that somebody else can take away.
type Forcible interface {
	// AwaitTold returns once who holds the lock would be told of that.
	AwaitTold(ctx context.Context) error
	// Force takes it from whoever holds it.
	Force(ctx context.Context) error
	// Ended is closed when the holder knows that it has lost the lock.
	Ended() <-chan struct{}
}

var (
	_ Forcible = (*bedrockMutex)(nil)

	errNobody = errors.New("nobody has the lock")
)

// AwaitTold implements Forcible: a client subscribes when it has its first lock.
func (m *bedrockMutex) AwaitTold(ctx context.Context) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		told, err := m.client.Ask(ctx, m.mutex.Name(), "are you there?", 0)
		if err != nil || told > 0 {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Force implements Forcible.
func (m *bedrockMutex) Force(ctx context.Context) error {
	held, err := m.client.ForceRelease(ctx, m.mutex.Name())
	if err == nil && !held {
		err = fmt.Errorf("%s: %w", m.mutex.Name(), errNobody)
	}
	return err
}

// Ended implements Forcible.
func (m *bedrockMutex) Ended() <-chan struct{} { return m.lease.Context().Done() }
