package sqlite

import (
	"context"

	"github.com/bedrock-go/bedrock/lock/sqllock/internal/keeper"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/ledger"
)

// sweepIdle looks at some names, and forgets what is over. When it fails it is for another time.
func (w *writer) sweepIdle() {
	names, idle, err := w.file.layout.Names(
		context.Background(), w.s, w.sweep.After, keeper.SweptNames, ledger.IdleTime,
	)
	if err != nil {
		return
	}
	w.sweep.Pass(names)
	if len(idle) > 0 {
		_ = w.runSteps([]*keeper.Step{keeper.Sweep(idle)})
	}
}
