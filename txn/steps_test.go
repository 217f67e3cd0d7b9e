package txn_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/txn"
)

// TestStepHasNobodyToCall: what names no target is no step.
func TestStepHasNobodyToCall(t *testing.T) {
	tx := &txn.Transaction{Definition: txn.Definition{
		Check: &txn.Check{Target: "made"},
		Branches: []txn.Branch{
			{ID: "a", Do: "do", Undo: "undo", Policy: &txn.Policy{Hook: "ask"}}, {ID: "b", Confirm: "confirm"},
		},
	}}
	want := []txn.Step{
		{Branch: -1, Phase: txn.PhaseCheck},
		{Branch: 0, Phase: txn.PhaseDo},
		{Branch: 0, Phase: txn.PhaseUndo},
		{Branch: 0, Phase: txn.PhaseHook},
		{Branch: 1, Phase: txn.PhaseConfirm},
	}
	if diff := cmp.Diff(want, tx.Steps()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
