package tcc_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// What comes next for a transaction of a general branch, a compensating one and an
// assured one.
func TestPlan(t *testing.T) {
	type ops = txn.Progress
	do := func(i int) txn.Step { return txn.Step{Branch: i, Phase: txn.PhaseDo} }
	undo := func(i int) txn.Step { return txn.Step{Branch: i, Phase: txn.PhaseUndo} }
	confirm := func(i int) txn.Step { return txn.Step{Branch: i, Phase: txn.PhaseConfirm} }
	done, unsure, flying := txn.Op{State: txn.Done}, txn.Op{State: txn.Unsure}, txn.Op{InFlight: true}
	refused := txn.Op{State: txn.Refused, Note: "full"}
	spent := txn.Op{State: txn.Unsure, Spent: true, Tries: 2}
	tests := map[string]struct {
		status   txn.Status
		change   func(t *txn.Transaction)
		progress [3]ops
		want     txn.Plan
	}{
		"open":      {txn.Open, nil, [3]ops{}, txn.Plan{Next: now.Add(time.Minute)}},
		"open late": {txn.Open, late, [3]ops{}, txn.Plan{Decide: txn.RollingBack, Reason: "not decided in time"}},
		"tries": {
			txn.Running, nil, [3]ops{}, txn.Plan{Run: []txn.Step{do(0), do(1), do(2)}, Next: now.Add(time.Minute)},
		},
		"decides": {txn.Running, nil, [3]ops{{Do: done}, {Do: done}, {Do: done}}, txn.Plan{Decide: txn.Committing}},
		"decides at the deadline": {
			txn.Running, late,
			[3]ops{{Do: done}, {Do: done}, {Do: done}},
			txn.Plan{Decide: txn.RollingBack, Reason: "not decided in time"},
		},
		"late": {
			txn.Running, late,
			[3]ops{{Do: done}, {Do: flying}},
			txn.Plan{Decide: txn.RollingBack, Reason: "not all tries were done in time"},
		},
		"refused": {
			txn.Running, nil,
			[3]ops{{Do: done}, {Do: refused}},
			txn.Plan{Decide: txn.RollingBack, Reason: "points was refused: full"},
		},
		"spent": {
			txn.Running, nil, [3]ops{{Do: spent}}, txn.Plan{Decide: txn.RollingBack, Reason: "flight failed 2 times"},
		},
		"spent, park": {
			txn.Running, func(t *txn.Transaction) { t.Branches[0].Policy = &txn.Policy{Attempts: 2, Then: txn.Park} },
			[3]ops{{Do: spent}},
			txn.Plan{Park: "flight failed 2 times"},
		},
		"confirms": {
			txn.Committing, nil, [3]ops{}, txn.Plan{Run: []txn.Step{confirm(0), confirm(1), confirm(2)}},
		},
		"confirms late": {
			txn.Committing, late,
			[3]ops{{Confirm: done}, {Confirm: done}, {Confirm: unsure}},
			txn.Plan{Run: []txn.Step{confirm(2)}},
		},
		"confirms spent": {
			txn.Committing, nil,
			[3]ops{{Confirm: spent}, {Confirm: done}, {Confirm: done}},
			txn.Plan{Park: "flight failed 2 times"},
		},
		"committed": {
			txn.Committing, nil,
			[3]ops{{Confirm: done}, {Confirm: done}, {Confirm: done}},
			txn.Plan{Decide: txn.Committed},
		},
		// The assured branch has no try, so it is told as well; it has nobody to tell.
		"cancels": {
			txn.RollingBack, nil, [3]ops{{Do: unsure}, {Do: refused}}, txn.Plan{Run: []txn.Step{undo(2), undo(0)}},
		},
		"cancel refused": {
			txn.RollingBack, nil,
			[3]ops{{Do: done, Undo: spent}, {}, {Undo: done}},
			txn.Plan{Park: "flight failed 2 times"},
		},
		"rolled back": {
			txn.RollingBack, nil, [3]ops{{Do: done, Undo: done}, {}, {Undo: done}}, txn.Plan{Decide: txn.RolledBack},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tx := &txn.Transaction{
				Definition: txn.Definition{Branches: []txn.Branch{
					{ID: "flight", Do: "try", Confirm: "confirm", Undo: "cancel"},
					{ID: "points", Do: "do", Undo: "compensate"},
					{ID: "mail", Confirm: "async:mail"},
				}},
				Status: test.status, Progress: test.progress[:], Deadline: now.Add(time.Minute),
			}
			if test.change != nil {
				test.change(tx)
			}
			if diff := cmp.Diff(test.want, tcc.Mode{}.Plan(tx, now), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func late(t *txn.Transaction) { t.Deadline = now }

// Tries that the caller made are canceled, though nobody knows whether they were
// made.
func TestCallersTriesAreCanceled(t *testing.T) {
	tx := &txn.Transaction{
		Definition: txn.Definition{Branches: []txn.Branch{{ID: "a", Confirm: "confirm", Undo: "cancel"}}},
		Status:     txn.RollingBack, Progress: make([]txn.Progress, 1),
	}
	want := txn.Plan{Run: []txn.Step{{Branch: 0, Phase: txn.PhaseUndo}}}
	if diff := cmp.Diff(want, tcc.Mode{}.Plan(tx, now)); diff != "" {
		t.Error(diff)
	}
}

func TestMode(t *testing.T) {
	m := tcc.Mode{}
	if s, ok := m.Start(false); s != txn.Running || !ok {
		t.Errorf("submitted: %v, %t", s, ok)
	}
	if s, ok := m.Start(true); s != txn.Open || !ok {
		t.Errorf("begun: %v, %t", s, ok)
	}
	for phase, want := range map[txn.Phase]string{
		txn.PhaseDo: "try", txn.PhaseConfirm: "confirm", txn.PhaseUndo: "cancel", txn.PhaseHook: "hook",
	} {
		if got := m.Op(phase); got != want {
			t.Errorf("%s is called %q, want %q", phase, got, want)
		}
	}
	d := txn.Definition{Mode: tcc.Name}
	if err := m.Check(&d); err != nil || d.Timeout != tcc.DefaultTimeout {
		t.Errorf("timeout %v, %v", d.Timeout, err)
	}
}
