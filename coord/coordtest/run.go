package coordtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// Successor says who goes on when the first coordinator is broken.
type Successor string

const (
	// Standby runs beside the first one from the beginning.
	Standby Successor = "standby takes over"
	// Restart begins when the first one is dead or has done its part.
	Restart Successor = "restart goes on"
)

// oneRun is one script with its faults on one store.
type oneRun struct {
	store     driver.Store
	script    script
	faults    map[Point]Fault
	successor Successor
	timing    Timing
	id        string

	ledger  *ledger
	witness *witness
	broken  *bedrocktest.Store
	inject  *injector
	late    latecomers // calls of participants that a stall has delayed
	told    txn.Result
	lasted  time.Duration // from the client's last word to the end
}

// playScript runs the script and returns what is wrong with the end, if anything.
func (r *oneRun) playScript(ctx context.Context) error {
	r.ledger, r.witness, r.inject = newLedger(r.script, r.timing.Poll), newWitness(r.store), newInjector(r.faults)
	r.broken = r.brokenStore()
	first, err := r.coordinator("first", r.broken,
		(&brokenCalls{ledger: r.ledger, faults: r.inject, stall: r.stall(), late: &r.late}).serveCall)
	if err != nil {
		return err
	}
	second, err := r.coordinator("second", r.witness, func(ctx context.Context, call txn.Call) ([]byte, error) {
		return nil, r.ledger.serveCall(ctx, call)
	})
	if err != nil {
		return err
	}
	err = errors.Join(r.drive(ctx, first, second), r.stop(first), r.stop(second))
	r.waitForLate() // a coordinator that is stopped leaves what is under way
	return err
}

// waitForLate returns when all that a stall has delayed has arrived.
func (r *oneRun) waitForLate() {
	r.late.waitForAll(r.timing.Poll)
	r.broken.WaitLate()
}

// stall is long enough for the lease to be over and somebody else to have taken
// over.
func (r *oneRun) stall() time.Duration { return r.timing.Lease + 4*r.timing.Poll }

func (r *oneRun) coordinator(name string, store driver.Store, serve txn.Func) (*coord.Coordinator, error) {
	c, err := coord.New(store, &coord.Options{
		Replica: name, Lease: r.timing.Lease, Poll: r.timing.Poll,
		Retention: coord.Retention{Keep: r.retention()}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	return c, c.Register("ledger", serve)
}

func (r *oneRun) stop(c *coord.Coordinator) error {
	ctx, cancel := context.WithTimeout(context.Background(), r.timing.Settle)
	defer cancel()
	return c.Stop(ctx)
}

func (r *oneRun) drive(ctx context.Context, first, second *coord.Coordinator) error {
	if r.successor == Standby {
		if err := second.Start(ctx); err != nil {
			return err
		}
	}
	// A first coordinator that cannot even start is one that died early.
	if err := first.Start(ctx); err == nil {
		r.talk(ctx, first)
	}
	if r.successor == Restart {
		if err := second.Start(ctx); err != nil {
			return err
		}
	}
	return r.checkOutcome(ctx, second)
}

// talk lets the client do its part with the first coordinator. A client whose
// coordinator is dead learns nothing more from it.
func (r *oneRun) talk(ctx context.Context, first *coord.Coordinator) {
	ctx, cancel := context.WithTimeout(ctx, r.timing.Settle/2)
	defer cancel()
	go func() {
		select {
		case <-r.inject.dead:
			cancel()
		case <-ctx.Done():
		}
	}()
	c := client{Coordinator: first, id: r.id, timing: r.timing, try: func(ctx context.Context, call txn.Call) error {
		return r.ledger.serveCall(ctx, call)
	}}
	if told, err := r.script.run(ctx, c); err == nil || told.Outcome == txn.RolledBack {
		r.told = told
	}
}

// checkOutcome waits for the end and looks at it.
func (r *oneRun) checkOutcome(ctx context.Context, second *coord.Coordinator) error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, r.timing.Settle)
	defer cancel()
	_, err := second.Wait(ctx, r.id)
	r.lasted = time.Since(began)
	r.waitForLate()
	if r.script.removed {
		return errors.Join(r.removed(ctx, second), r.witnessed())
	}
	if errors.Is(err, driver.ErrNotFound) {
		return r.neverAccepted()
	}
	tx, err := second.Get(ctx, r.id)
	if err != nil {
		return err
	}
	return errors.Join(r.checkEnd(tx), r.ledger.check(tx), r.asTold(tx), r.witnessed())
}

// retention is how long final transactions stay.
func (r *oneRun) retention() time.Duration {
	if r.script.removed {
		return r.timing.Lease
	}
	return -1
}

// removed waits until retention has deleted the transaction.
func (r *oneRun) removed(ctx context.Context, c *coord.Coordinator) error {
	tick := time.NewTicker(r.timing.Poll)
	defer tick.Stop()
	for {
		_, err := c.Get(ctx, r.id)
		if errors.Is(err, driver.ErrNotFound) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("final, but never removed: %w", err)
		}
	}
}

// neverAccepted is fine, unless the client was told otherwise.
func (r *oneRun) neverAccepted() error {
	if r.told.Outcome != "" {
		return fmt.Errorf("told %s, but the transaction does not exist", r.told.Outcome)
	}
	return r.witnessed()
}

func (r *oneRun) checkEnd(tx *txn.Transaction) error {
	switch {
	case !tx.Status.Final():
		return fmt.Errorf("still %s (parked: %q, due %v, owner %q) after %v", tx.Status, tx.Parked, tx.Due, tx.Owner,
			r.lasted)
	case !slices.Contains(r.script.outcomes, tx.Status):
		return fmt.Errorf("%s: %s; want one of %v", tx.Status, tx.Reason, r.script.outcomes)
	}
	return nil
}

func (r *oneRun) asTold(tx *txn.Transaction) error {
	if r.told.Outcome != "" && r.told.Outcome != tx.Status {
		return fmt.Errorf("the client was told %s, but it is %s", r.told.Outcome, tx.Status)
	}
	return nil
}

func (r *oneRun) witnessed() error {
	if wrong := r.witness.complaints(); len(wrong) > 0 {
		return fmt.Errorf("%v", wrong)
	}
	return nil
}
