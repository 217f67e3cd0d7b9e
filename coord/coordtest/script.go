package coordtest

import (
	"context"
	"errors"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// script is something a client does with a coordinator.
type script struct {
	name   string
	refuse string // the branch that refuses
	hang   string // the branch that never answers
	slow   string // the branch whose answer is late
	// alone: what is broken is done in the background, where a standby might be the
	// one to do it.
	alone bool
	// removed waits until the transaction is deleted, its time being over.
	removed bool
	// outcomes the transaction may have if it was accepted at all.
	outcomes []txn.Outcome
	run      func(ctx context.Context, c client) (txn.Result, error)
}

// client is what scripts see: a coordinator, and the tries they make themselves.
type client struct {
	txn.Coordinator
	id  string
	try func(ctx context.Context, call txn.Call) error
	// timing of the run: short on real stores, in virtual time as in production.
	timing Timing
}

// Timing scales a run.
type Timing struct {
	Lease   time.Duration
	Poll    time.Duration
	Backoff time.Duration
	Call    time.Duration // time-out of one call
	Timeout time.Duration // of scripts that time out, and of begun transactions
	Check   time.Duration // before the producer is asked
	Settle  time.Duration // the longest a run may take to end
}

// scripts lists what clients do, per mode: all goes well, a refusal, a time-out.
func scripts() []script {
	committed, rolledBack := []txn.Outcome{txn.Committed}, []txn.Outcome{txn.RolledBack}
	either := []txn.Outcome{txn.Committed, txn.RolledBack}
	return []script{
		{name: "saga commits", outcomes: committed, run: submitting(sagaOf)},
		{name: "saga is refused", refuse: "c", outcomes: rolledBack, run: submitting(sagaOf)},
		{name: "saga times out", hang: "c", outcomes: rolledBack, run: submitting(func(c client) txn.Definition {
			d := sagaOf(c)
			d.Timeout = c.timing.Timeout
			return d
		})},
		{name: "tcc commits", outcomes: committed, run: submitting(tccOf)},
		{name: "tcc is refused", refuse: "b", outcomes: rolledBack, run: submitting(tccOf)},
		{name: "tcc times out", hang: "b", outcomes: rolledBack, run: submitting(func(c client) txn.Definition {
			d := tccOf(c)
			d.Timeout = c.timing.Timeout
			return d
		})},
		{
			name: "tcc is refused while another try is under way", refuse: "b", slow: "a", outcomes: rolledBack,
			run: submitting(func(c client) txn.Definition {
				d := tccOf(c)
				d.Parallel = 2
				return d
			}),
		},
		{name: "tcc begun and committed", outcomes: either, run: begunTCC(true)},
		{name: "tcc begun and cancelled", outcomes: rolledBack, run: begunTCC(false)},
		{name: "message is sent", outcomes: committed, run: submitting(messageOf)},
		{name: "message is prepared and sent", outcomes: either, run: prepared(true)},
		{name: "message is prepared and forgotten", alone: true, outcomes: committed, run: forgotten},
		{name: "message is prepared and cancelled", outcomes: either, run: prepared(false)},
		{name: "saga is removed", alone: true, removed: true, outcomes: committed, run: ranAndRemoved},
	}
}

// ranAndRemoved runs a saga and stays until retention has deleted it.
func ranAndRemoved(ctx context.Context, c client) (txn.Result, error) {
	told, err := c.Run(ctx, sagaOf(c))
	return told, errors.Join(err, waitRemoved(ctx, c))
}

func submitting(of func(c client) txn.Definition) func(context.Context, client) (txn.Result, error) {
	return func(ctx context.Context, c client) (txn.Result, error) { return c.Run(ctx, of(c)) }
}

func (c client) policy() *txn.Policy {
	return &txn.Policy{Timeout: c.timing.Call, Backoff: c.timing.Backoff, MaxBackoff: 4 * c.timing.Backoff}
}

func sagaOf(c client) txn.Definition {
	d := txn.Definition{ID: c.id, Mode: "saga"}
	for i, id := range []string{"a", "b", "c"} {
		b := txn.Branch{ID: id, Do: "ledger", Undo: "ledger", Policy: c.policy()}
		if i > 0 {
			b.After = []string{d.Branches[i-1].ID}
		}
		d.Branches = append(d.Branches, b)
	}
	return d
}

func tccOf(c client) txn.Definition {
	d := txn.Definition{ID: c.id, Mode: "tcc", Parallel: 1}
	for _, id := range []string{"a", "b"} {
		d.Branches = append(d.Branches, tccBranch(c, id, "ledger"))
	}
	return d
}

func tccBranch(c client, id string, do txn.Target) txn.Branch {
	return txn.Branch{ID: id, Do: do, Confirm: "ledger", Undo: "ledger", Policy: c.policy()}
}

func messageOf(c client) txn.Definition {
	return txn.Definition{ID: c.id, Mode: "msg", Parallel: 1, Branches: []txn.Branch{
		{ID: "a", Confirm: "ledger", Policy: c.policy()}, {ID: "b", Confirm: "ledger", Policy: c.policy()},
	}}
}

// begunTCC makes its own tries, each after its branch is enlisted.
func begunTCC(commit bool) func(context.Context, client) (txn.Result, error) {
	return func(ctx context.Context, c client) (txn.Result, error) {
		d := txn.Definition{ID: c.id, Mode: "tcc", Timeout: c.timing.Timeout, Parallel: 1}
		if _, err := c.Begin(ctx, d); err != nil {
			return txn.Result{}, err
		}
		for _, id := range []string{"a", "b"} {
			if err := c.Enlist(ctx, c.id, tccBranch(c, id, "")); err != nil {
				return txn.Result{}, err
			}
			if err := c.try(ctx, txn.Call{Transaction: c.id, Branch: id, Op: "try"}); err != nil {
				return txn.Result{}, err
			}
		}
		return decide(ctx, c, commit)
	}
}

func prepared(commit bool) func(context.Context, client) (txn.Result, error) {
	return func(ctx context.Context, c client) (txn.Result, error) {
		if err := beginMessage(ctx, c); err != nil {
			return txn.Result{}, err
		}
		return decide(ctx, c, commit)
	}
}

// forgotten prepares a message and leaves the rest to the check-back, which says
// that the local transaction was committed.
func forgotten(ctx context.Context, c client) (txn.Result, error) {
	if err := beginMessage(ctx, c); err != nil {
		return txn.Result{}, err
	}
	return c.Wait(ctx, c.id)
}

func beginMessage(ctx context.Context, c client) error {
	d := messageOf(c)
	d.Check = &txn.Check{Target: "ledger", After: c.timing.Check, Policy: c.policy()}
	_, err := c.Begin(ctx, d)
	return err
}

func decide(ctx context.Context, c client, commit bool) (txn.Result, error) {
	var err error
	if commit {
		err = c.Commit(ctx, c.id)
	} else {
		err = c.RollBack(ctx, c.id, "changed my mind")
	}
	if err != nil && !errors.Is(err, txn.ErrDecided) {
		return txn.Result{}, err
	}
	return c.Wait(ctx, c.id)
}

// waitRemoved keeps the first coordinator at work until it has deleted the
// transaction.
func waitRemoved(ctx context.Context, c client) error {
	tick := time.NewTicker(c.timing.Poll)
	defer tick.Stop()
	for {
		if _, err := c.Wait(ctx, c.id); errors.Is(err, txn.ErrNotFound) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
