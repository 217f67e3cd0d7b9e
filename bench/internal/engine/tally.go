package engine

import (
	"context"
	"sync/atomic"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
)

// tally counts what the coordinator has finished. It is a coord.Observer.
type tally struct{ committed, others atomic.Int64 }

// Observe implements coord.Observer.
func (t *tally) Observe(_ context.Context, e coord.Event) {
	switch {
	case e.Kind == coord.EventParked:
		t.others.Add(1)
	case e.Kind != coord.EventFinished:
	case e.Status == txn.Committed:
		t.committed.Add(1)
	default:
		t.others.Add(1)
	}
}

// State is what a coordinator has come to.
type State struct {
	// Committed and Others are the transactions it has finished, or parked.
	Committed, Others int64
}

func (t *tally) state() State {
	return State{Committed: t.committed.Load(), Others: t.others.Load()}
}
