package txbench_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/txbench"
	"github.com/bedrock-go/bedrock/txn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answering is a coordinator whose transactions all end the same way.
type answering struct {
	txn.Coordinator

	err error
}

func (a answering) Run(context.Context, txn.Definition) (txn.Result, error) {
	return txn.Result{}, a.err
}

func measure(t *testing.T, err error) txbench.Result {
	t.Helper()
	return txbench.Run(t.Context(), txbench.Plan{
		Coordinator: answering{err: err}, Definition: txn.Definition{Branches: make([]txn.Branch, 2)},
		Callers: 3, Duration: 50 * time.Millisecond,
	})
}

func TestOutcomesAreToldApart(t *testing.T) {
	if r := measure(t, nil); r.Committed == 0 || r.RolledBack+r.Errors != 0 || r.PerSecond <= 0 || r.Callers != 3 ||
		r.Branches != 2 {
		t.Errorf("all were committed: %+v", r)
	}
	if r := measure(t, &txn.RolledBackError{}); r.RolledBack == 0 || r.Committed+r.Errors != 0 {
		t.Errorf("all were rolled back: %+v", r)
	}
	failed := &txn.InDoubtError{Err: errors.New("lost")}
	if r := measure(t, failed); r.Errors == 0 || r.Committed+r.RolledBack != 0 || !errors.Is(r.Err, failed) {
		t.Errorf("all are in doubt: %+v", r)
	}
}

func TestQuantilesAreInOrder(t *testing.T) {
	if r := measure(t, nil); r.P50 > r.P99 || r.P99 > r.Max || r.Max == 0 {
		t.Errorf("quantiles out of order: %+v", r)
	}
}
