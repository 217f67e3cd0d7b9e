package lock_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
)

// lastOf keeps the last event of a kind.
type lastOf struct {
	kind lock.EventKind
	last lock.Event
}

// Observe implements [lock.Observer].
func (o *lastOf) Observe(_ context.Context, e lock.Event) {
	if e.Kind == o.kind {
		o.last = e
	}
}

// lateDialError is what a dial is told that took too long: package net's time-outs match this, too.
type lateDialError struct{}

func (*lateDialError) Error() string { return "dial tcp 127.0.0.1:9: i/o timeout" }

func (*lateDialError) Is(target error) bool { return target == context.DeadlineExceeded }

// unreachable is that as redislock passes it on.
func unreachable() error {
	return fmt.Errorf("redislock: acquire %q: %w: %w", "a", driver.ErrUnavailable, &lateDialError{})
}

// TestAConnectionThatIsNotMadeInTimeIsTakenForTheCallersEnd: it matches the end of a context, and
// those of the callers here never end.
func TestAConnectionThatIsNotMadeInTimeIsTakenForTheCallersEnd(t *testing.T) {
	backend, seen := newFaulty(nil), &lastOf{kind: lock.EventLeft}
	locks := open(t, backend, &lock.Options{Observer: seen, Patience: -1})
	lease := mustLock(t, locks.Mutex("b", nil))
	down := unreachable()
	backend.fail(down)
	defer backend.heal()
	_, locking := locks.Mutex("a", nil).Lock(context.Background())
	wantEqual(t, "reason", seen.last.Reason(), "failed")
	unlocking := lease.Unlock(context.Background())
	wantEqual(t, "reason", seen.last.Reason(), "failed")
	for _, err := range []error{locking, unlocking} {
		wantErr(t, err, driver.ErrUnavailable)
		if errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it matches the end of a context that never ends: %v", err)
		}
		if _, ok := errors.AsType[*lateDialError](err); !ok {
			t.Errorf("what the connection said is hidden: %v", err)
		}
		wantText(t, err, down.Error())
	}
}

// TestTheCallersEndIsHiddenByATimeOut: a dial that its caller's deadline ended ends with that.
func TestTheCallersEndIsHiddenByATimeOut(t *testing.T) {
	backend := newFaulty(nil)
	locks := open(t, backend, nil)
	backend.fail(unreachable())
	defer backend.heal()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := locks.Mutex("a", nil).Lock(ctx)
	wantErr(t, err, context.DeadlineExceeded)
}
