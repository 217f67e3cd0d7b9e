package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/load"
	"github.com/bedrock-go/bedrock/bench/internal/orders"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
)

// functions take part in sagas without leaving the process.
type functions struct {
	down  atomic.Bool
	first atomic.Pointer[time.Time] // the first call since they are up
}

// errDown is what the functions say while they are down.
var errDown = errors.New("down for the benchmark")

// register makes them participants.
func (f *functions) register(co *coord.Coordinator) error {
	var errs []error
	for _, name := range []string{
		orders.FirstAction, orders.FirstCompensate, orders.LastAction, orders.LastCompensate,
	} {
		errs = append(errs, co.Register(name, f.doNothing))
	}
	return errors.Join(errs...)
}

// doNothing does nothing, unless the functions are down.
func (f *functions) doNothing(context.Context, txn.Call) ([]byte, error) {
	if f.down.Load() {
		return nil, errDown
	}
	if f.first.Load() == nil {
		f.first.CompareAndSwap(nil, new(time.Now()))
	}
	return nil, nil
}

// run lets callers run sagas for a stretch.
func run(ctx context.Context, co *coord.Coordinator, s load.Stretch) (*load.Tally, error) {
	d := orders.FunctionSaga()
	return load.For(ctx, s.Clients, s.Length, func(ctx context.Context, _ int) error {
		_, err := co.Run(ctx, d)
		return err
	})
}

// Outage is an interruption of the functions.
type Outage struct {
	// Sagas is how many are submitted while it lasts.
	Sagas int
	// Length is how long it goes on after that.
	Length time.Duration
}

// Recovery is what came after an outage.
type Recovery struct {
	// FirstCall is how long after its end the first call came.
	FirstCall time.Duration
	// Drained is how long after that call all sagas were committed.
	Drained time.Duration
}

// outage interrupts the functions and watches the sagas recover.
func (e *engine) outage(ctx context.Context, o Outage) (*Recovery, error) {
	f := &e.functions
	f.down.Store(true)
	before := e.tally.committed.Load()
	d := orders.FunctionSaga()
	_, err := load.Times(ctx, submitters, o.Sagas, func(ctx context.Context, _ int) error {
		_, err := e.co.Submit(ctx, d)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := load.Pause(ctx, o.Length); err != nil {
		return nil, err
	}
	f.first.Store(nil)
	up := time.Now()
	f.down.Store(false)
	err = load.Until(ctx, time.Millisecond, func() (bool, error) {
		return e.tally.committed.Load()-before >= int64(o.Sagas), nil
	})
	if err != nil {
		return nil, fmt.Errorf("drain: %d of %d committed: %w", e.tally.committed.Load()-before, o.Sagas, err)
	}
	first := *f.first.Load()
	return &Recovery{FirstCall: first.Sub(up), Drained: time.Since(first)}, nil
}

// submitters is how many callers submit at once.
const submitters = 64
