package saga_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/saga"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func do(i int) txn.Step   { return txn.Step{Branch: i, Phase: txn.PhaseDo} }
func undo(i int) txn.Step { return txn.Step{Branch: i, Phase: txn.PhaseUndo} }
func hook(i int) txn.Step { return txn.Step{Branch: i, Phase: txn.PhaseHook} }

// What comes next for a saga a → b, c (b and c wait for a), by how its branches
// stand.
func TestPlan(t *testing.T) {
	type ops = txn.Progress
	done, idle, unsure := txn.Op{State: txn.Done}, txn.Op{}, txn.Op{State: txn.Unsure}
	refused := txn.Op{State: txn.Refused, Note: "sold out"}
	flying := txn.Op{InFlight: true}
	spent := txn.Op{State: txn.Unsure, Spent: true, Tries: 3, Note: "timeout"}
	later := txn.Op{State: txn.Unsure, Tries: 1, Due: now.Add(time.Second)}
	tests := map[string]struct {
		status   txn.Status
		change   func(t *txn.Transaction)
		progress [3]ops
		want     txn.Plan
	}{
		"begins": {txn.Running, nil, [3]ops{}, txn.Plan{Run: []txn.Step{do(0)}}},
		"waits":  {txn.Running, nil, [3]ops{{Do: flying}}, txn.Plan{}},
		"forks":  {txn.Running, nil, [3]ops{{Do: done}}, txn.Plan{Run: []txn.Step{do(1), do(2)}}},
		"skipped": {
			txn.Running, nil, [3]ops{{Do: txn.Op{State: txn.Skipped}}}, txn.Plan{Run: []txn.Step{do(1), do(2)}},
		},
		"again":     {txn.Running, nil, [3]ops{{Do: done}, {Do: unsure}, {Do: done}}, txn.Plan{Run: []txn.Step{do(1)}}},
		"later":     {txn.Running, nil, [3]ops{{Do: later}}, txn.Plan{Next: now.Add(time.Second)}},
		"committed": {txn.Running, nil, [3]ops{{Do: done}, {Do: done}, {Do: done}}, txn.Plan{Decide: txn.Committed}},
		"serial": {
			txn.Running, func(t *txn.Transaction) { t.Parallel = 1 },
			[3]ops{{Do: done}},
			txn.Plan{Run: []txn.Step{do(1)}},
		},
		"serial, other under way": {
			txn.Running, func(t *txn.Transaction) { t.Parallel = 1 },
			[3]ops{{Do: done}, {}, {Do: flying}},
			txn.Plan{},
		},
		"refused": {
			txn.Running, nil,
			[3]ops{{Do: done}, {Do: refused}, {Do: flying}},
			txn.Plan{Decide: txn.RollingBack, Reason: "b was refused: sold out"},
		},
		"deadline ahead": {
			txn.Running, func(t *txn.Transaction) { t.Deadline = now.Add(time.Minute) },
			[3]ops{{Do: flying}},
			txn.Plan{Next: now.Add(time.Minute)},
		},
		"deadline": {
			txn.Running, func(t *txn.Transaction) { t.Deadline = now },
			[3]ops{{Do: flying}},
			txn.Plan{Decide: txn.RollingBack, Reason: "not done in time"},
		},
		"done at the deadline": {
			txn.Running, func(t *txn.Transaction) { t.Deadline = now },
			[3]ops{{Do: done}, {Do: done}, {Do: done}},
			txn.Plan{Decide: txn.Committed},
		},
		"spent": {
			txn.Running, nil,
			[3]ops{{Do: done}, {Do: spent}, {Do: idle}},
			txn.Plan{Decide: txn.RollingBack, Reason: "b failed 3 times: timeout"},
		},
		"spent, park": {
			txn.Running, func(t *txn.Transaction) { t.Branches[1].Policy = &txn.Policy{Attempts: 3, Then: txn.Park} },
			[3]ops{{Do: done}, {Do: spent}, {Do: idle}},
			txn.Plan{Park: "b failed 3 times: timeout"},
		},
		"spent, hook": {
			txn.Running, withHook,
			[3]ops{{Do: done}, {Do: spent}, {Do: done}},
			txn.Plan{Run: []txn.Step{hook(1)}},
		},
		"hook refuses": {
			txn.Running, withHook,
			[3]ops{{Do: done}, {Do: spent, Hook: refused}, {Do: done}},
			txn.Plan{Decide: txn.RollingBack, Reason: "b failed 3 times: timeout"},
		},
		"forward, refused": {
			txn.Running, forward,
			[3]ops{{Do: done}, {Do: refused}, {Do: done}},
			txn.Plan{Park: "b was refused: sold out"},
		},
		"forward, spent": {
			txn.Running, forward,
			[3]ops{{Do: done}, {Do: spent}, {Do: done}},
			txn.Plan{Park: "b failed 3 times: timeout"},
		},
		"forward, again": {
			txn.Running, forward,
			[3]ops{{Do: done}, {Do: unsure}, {Do: done}},
			txn.Plan{Run: []txn.Step{do(1)}},
		},
		"undo in reverse": {
			txn.RollingBack, because,
			[3]ops{{Do: done}, {Do: refused}, {Do: done}},
			txn.Plan{Run: []txn.Step{undo(2)}},
		},
		"undo both, the later first": {
			txn.RollingBack, because,
			[3]ops{{Do: done}, {Do: unsure}, {Do: done}},
			txn.Plan{Run: []txn.Step{undo(2), undo(1)}},
		},
		"undo the first at last": {
			txn.RollingBack, because,
			[3]ops{{Do: done}, {Do: done, Undo: done}, {Do: idle}},
			txn.Plan{Run: []txn.Step{undo(0)}},
		},
		"undo waits for calls forward": {
			txn.RollingBack, because,
			[3]ops{{Do: done}, {Do: refused}, {Do: flying}},
			txn.Plan{},
		},
		"undo spent": {
			txn.RollingBack, because,
			[3]ops{{Do: done}, {Do: refused}, {Do: done, Undo: spent}},
			txn.Plan{Park: "c failed 3 times: timeout"},
		},
		"undo spent, hook": {
			txn.RollingBack, func(t *txn.Transaction) { withHook(t); because(t) },
			[3]ops{{Do: done}, {Do: done, Undo: spent}, {Do: done, Undo: done}},
			txn.Plan{Run: []txn.Step{hook(1)}},
		},
		"rolled back": {
			txn.RollingBack, because,
			[3]ops{{Do: done, Undo: done}, {Do: refused}, {Do: unsure, Undo: txn.Op{State: txn.Skipped}}},
			txn.Plan{Decide: txn.RolledBack, Reason: "because"},
		},
		"nothing to undo": {
			txn.RollingBack, because, [3]ops{{Do: refused}}, txn.Plan{Decide: txn.RolledBack, Reason: "because"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tx := &txn.Transaction{
				Definition: txn.Definition{Branches: []txn.Branch{
					{ID: "a", Do: "f", Undo: "g"},
					{ID: "b", Do: "f", Undo: "g", After: []string{"a"}},
					{ID: "c", Do: "f", Undo: "g", After: []string{"a"}},
				}},
				Status: test.status, Progress: test.progress[:],
			}
			if test.change != nil {
				test.change(tx)
			}
			if diff := cmp.Diff(test.want, saga.Mode{}.Plan(tx, now), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func withHook(t *txn.Transaction) {
	t.Branches[1].Policy = &txn.Policy{Attempts: 3, Then: txn.Hook, Hook: "h"}
}

func forward(t *txn.Transaction) { t.Recovery = txn.Forward }

func because(t *txn.Transaction) { t.Reason = "because" }

func TestMode(t *testing.T) {
	m := saga.Mode{}
	if s, ok := m.Start(false); s != txn.Running || !ok {
		t.Errorf("submitted: %v, %t", s, ok)
	}
	if _, ok := m.Start(true); ok {
		t.Error("a saga can be begun")
	}
	for phase, want := range map[txn.Phase]string{
		txn.PhaseDo: "action", txn.PhaseUndo: "compensate", txn.PhaseHook: "hook",
	} {
		if got := m.Op(phase); got != want {
			t.Errorf("%s is called %q, want %q", phase, got, want)
		}
	}
}
