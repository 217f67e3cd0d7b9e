package bedrocktest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/internal/trial"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/txn"
	txndriver "github.com/bedrock-go/bedrock/txn/driver"
)

// start runs a coordinator whose functions are all the same participant.
func start(
	t *testing.T, store txndriver.Store, opts *coord.Options, parts *bedrocktest.Participant,
) *coord.Coordinator {
	t.Helper()
	co, err := coord.New(store, opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"stock.deduct", "stock.restore", "pay.charge", "pay.refund"} {
		if err := co.Register(name, parts.Func); err != nil {
			t.Fatal(err)
		}
	}
	if err := co.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := co.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return co
}

// order is a saga of two steps.
func order(policy *txn.Policy) txn.Definition {
	return txn.Definition{ID: "order-1", Mode: "saga", Branches: []txn.Branch{
		{ID: "stock", Do: "stock.deduct", Undo: "stock.restore", Policy: policy},
		{ID: "pay", After: []string{"stock"}, Do: "pay.charge", Undo: "pay.refund", Policy: policy},
	}}
}

func submit(t *testing.T, co *coord.Coordinator, d txn.Definition) string {
	t.Helper()
	id, err := co.Submit(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func openLocks(t *testing.T, b driver.Backend, opts *lock.Options) *lock.Client {
	t.Helper()
	locks, err := lock.New(b, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := locks.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return locks
}

func take(t *testing.T, locks *lock.Client, name string) *lock.Lease {
	t.Helper()
	lease, err := locks.Mutex(name, &lock.MutexOptions{Wait: time.Minute}).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// complains checks that an assertion fails once, with these texts in its message.
func complains(t *testing.T, texts []string, assertion func(testing.TB)) {
	t.Helper()
	failures := trial.Failures(t, assertion)
	if len(failures) != 1 {
		t.Errorf("%d complaints %q, want one with %q", len(failures), failures, texts)
		return
	}
	for _, text := range texts {
		if !strings.Contains(failures[0], text) {
			t.Errorf("the complaint lacks %q:\n%s", text, failures[0])
		}
	}
}
