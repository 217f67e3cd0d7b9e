package coord

import (
	"encoding/json"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// steps lists all calls of a transaction, made or not, that name a target.
func steps(t *txn.Transaction) []txn.Step {
	var all []txn.Step
	if t.Check != nil {
		all = append(all, txn.Step{Branch: -1, Phase: txn.PhaseCheck})
	}
	for i := range t.Branches {
		for _, p := range []txn.Phase{txn.PhaseDo, txn.PhaseConfirm, txn.PhaseUndo, txn.PhaseHook} {
			if s := (txn.Step{Branch: i, Phase: p}); t.Target(s) != "" {
				all = append(all, s)
			}
		}
	}
	return all
}

func encode(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

// jitter spreads a pause over three quarters to the whole of d, so that replicas
// do not ask the store in step.
func (c *Coordinator) jitter(d time.Duration) time.Duration { return d*3/4 + c.draw(d/4+1) }
