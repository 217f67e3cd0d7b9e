package msg_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/msg"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// What comes next for a message to two receivers.
func TestPlan(t *testing.T) {
	deliver := func(i int) txn.Step { return txn.Step{Branch: i, Phase: txn.PhaseConfirm} }
	ask := txn.Step{Branch: -1, Phase: txn.PhaseCheck}
	done, spent := txn.Op{State: txn.Done}, txn.Op{State: txn.Unsure, Spent: true, Tries: 2}
	later := txn.Op{State: txn.Unsure, Due: now.Add(time.Second)}
	tests := map[string]struct {
		status txn.Status
		change func(t *txn.Transaction)
		want   txn.Plan
	}{
		"prepared": {txn.Open, nil, txn.Plan{Next: now.Add(10 * time.Second)}},
		"prepared, later": {
			txn.Open, func(t *txn.Transaction) { t.Check.After = time.Hour }, txn.Plan{Next: now.Add(time.Hour)},
		},
		"asks":             {txn.Open, old, txn.Plan{Run: []txn.Step{ask}}},
		"is asking":        {txn.Open, checked(txn.Op{InFlight: true}), txn.Plan{}},
		"asks again later": {txn.Open, checked(later), txn.Plan{Next: now.Add(time.Second)}},
		"producer says yes": {
			txn.Open, checked(done),
			txn.Plan{Decide: txn.Committing},
		},
		"producer says no": {
			txn.Open, checked(txn.Op{State: txn.Refused}),
			txn.Plan{Decide: txn.RolledBack, Reason: "its producer says that the local transaction was not committed"},
		},
		"producer says nothing": {txn.Open, checked(spent), txn.Plan{Park: "check failed 2 times"}},
		"nobody to ask":         {txn.Open, alone(now.Add(time.Second)), txn.Plan{Next: now.Add(time.Second)}},
		"nobody to ask, late": {
			txn.Open, alone(now), txn.Plan{Decide: txn.RolledBack, Reason: "not submitted in time"},
		},
		"canceled": {
			txn.RollingBack, func(t *txn.Transaction) { t.Reason = "because" },
			txn.Plan{Decide: txn.RolledBack, Reason: "because"},
		},
		"delivers": {txn.Committing, nil, txn.Plan{Run: []txn.Step{deliver(0), deliver(1)}}},
		"held back": {
			txn.Committing, func(t *txn.Transaction) { t.Delay = time.Hour }, txn.Plan{Next: now.Add(time.Hour)},
		},
		"one is slow":  {txn.Committing, came(done, later), txn.Plan{Next: now.Add(time.Second)}},
		"one gives up": {txn.Committing, came(done, spent), txn.Plan{Park: "b failed 2 times"}},
		"both have it": {txn.Committing, came(done, txn.Op{State: txn.Skipped}), txn.Plan{Decide: txn.Committed}},
		"one by one": {
			txn.Committing, func(t *txn.Transaction) { t.Parallel = 1 }, txn.Plan{Run: []txn.Step{deliver(0)}},
		},
		"nothing to do": {txn.Committing, came(done, txn.Op{InFlight: true}), txn.Plan{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tx := &txn.Transaction{
				Definition: txn.Definition{
					Branches: []txn.Branch{{ID: "a", Confirm: "f"}, {ID: "b", Confirm: "f"}},
					Check:    &txn.Check{Target: "check"},
				},
				Status: test.status, Progress: make([]txn.Progress, 2), Created: now, Decided: now,
			}
			if test.change != nil {
				test.change(tx)
			}
			if diff := cmp.Diff(test.want, msg.Mode{}.Plan(tx, now), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func old(t *txn.Transaction) { t.Created = now.Add(-time.Minute) }

func checked(op txn.Op) func(t *txn.Transaction) {
	return func(t *txn.Transaction) { old(t); t.Checked = op }
}

func alone(deadline time.Time) func(t *txn.Transaction) {
	return func(t *txn.Transaction) { t.Check, t.Deadline = nil, deadline }
}

func came(a, b txn.Op) func(t *txn.Transaction) {
	return func(t *txn.Transaction) { t.Progress[0].Confirm, t.Progress[1].Confirm = a, b }
}

func TestMode(t *testing.T) {
	m := msg.Mode{}
	if s, ok := m.Start(false); s != txn.Committing || !ok {
		t.Errorf("sent: %v, %t", s, ok)
	}
	if s, ok := m.Start(true); s != txn.Open || !ok {
		t.Errorf("prepared: %v, %t", s, ok)
	}
	for phase, want := range map[txn.Phase]string{
		txn.PhaseConfirm: "deliver", txn.PhaseCheck: "check", txn.PhaseHook: "hook",
	} {
		if got := m.Op(phase); got != want {
			t.Errorf("%s is called %q, want %q", phase, got, want)
		}
	}
}
