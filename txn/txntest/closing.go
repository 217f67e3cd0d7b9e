package txntest

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// closing: a closed store says so.
func closing() []behaviour {
	return []behaviour{
		{"ClosedStoreAnswers", closedStoreAnswers},
		{"CloseLeavesACallBehind", closeLeavesACallBehind},
	}
}

func closedStoreAnswers(e *env) {
	rec := dueAt("a", e.now().Add(-time.Minute))
	e.create(rec)
	for range 2 { // a second Close does no harm
		if err := e.store.Close(); err != nil {
			e.Fatalf("close: %v", err)
		}
	}
	for name, call := range calls(e.store, rec) {
		if err := call(e.ctx()); !errors.Is(err, driver.ErrClosed) {
			e.Errorf("%s of a closed store: want ErrClosed, got %v", name, err)
		}
	}
}

// closeLeavesACallBehind: calls under way end.
func closeLeavesACallBehind(e *env) {
	rec := running("a")
	e.create(rec)
	ctx, closed := e.ctx(), make(chan error, 1)
	together(9, func(i int) {
		if i == 0 {
			closed <- e.store.Close()
			return
		}
		e.loadUntilClosed(ctx)
	})
	if err := <-closed; err != nil {
		e.Fatalf("close: %v", err)
	}
	if ctx.Err() != nil {
		e.Fatal("calls go on after Close")
	}
}

// loadUntilClosed reads until it is told that the store is closed.
func (e *env) loadUntilClosed(ctx context.Context) {
	for ctx.Err() == nil {
		if _, err := e.store.Load(ctx, "a"); errors.Is(err, driver.ErrClosed) {
			return
		}
	}
}
