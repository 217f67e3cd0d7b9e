package server

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestMailboxIsFull: what was counted as told is told to every grant of a client that is slow, in order, and to each
// only what came last of a kind.
func TestMailboxIsFull(t *testing.T) {
	const grants = 5000
	box := newMailbox()
	message := func(i int, kind driver.MessageKind, reason string) driver.Message {
		return driver.Message{
			Name: "a", Owner: "me:" + strconv.Itoa(i), Kind: kind, Plea: driver.Plea{Reason: reason},
		}
	}
	for _, reason := range []string{"first", "last"} {
		for i := range grants {
			box.putMessage(message(i, driver.Asked, reason))
		}
	}
	for i := range grants {
		box.putMessage(message(i, driver.Taken, ""))
	}
	want := func(m driver.Message) {
		t.Helper()
		if got, err := box.takeMessage(t.Context()); err != nil || got != m {
			t.Fatalf("next is %+v, %v; want %+v", got, err, m)
		}
	}
	for i := range grants {
		want(message(i, driver.Asked, "last"))
	}
	box.putMessage(message(0, driver.Asked, "again"))
	for i := range grants {
		want(message(i, driver.Taken, ""))
	}
	want(message(0, driver.Asked, "again"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if m, err := box.takeMessage(ctx); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an empty one: %+v, %v", m, err)
	}
	if len(box.waiting)+len(box.order) > 0 {
		t.Errorf("%d slots are taken", len(box.waiting)+len(box.order))
	}
}
