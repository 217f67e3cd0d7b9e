package server

import (
	"context"
	"errors"
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestAFullMailboxForgetsThatItWasFull: who learns of it looks after its grants.
func TestAFullMailboxForgetsThatItWasFull(t *testing.T) {
	box := newMailbox()
	for range mailboxSize + 3 {
		box.putMessage(driver.Message{Name: "a", Kind: driver.Asked})
	}
	if m, err := box.takeMessage(t.Context()); err != nil || m.Kind != driver.Missed {
		t.Errorf("first is %+v, %v", m, err)
	}
	for i := range mailboxSize {
		if m, err := box.takeMessage(t.Context()); err != nil || m.Kind != driver.Asked {
			t.Fatalf("number %d is %+v, %v", i, m, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := box.takeMessage(ctx); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an empty one: %v", err)
	}
}
