package plan_test

import (
	"fmt"
	"testing"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/plan"
	"github.com/bedrock-go/bedrock/txn/saga"
)

// chain is a saga of n steps, one after another.
func chain(n int) txn.Transaction {
	t := txn.Transaction{Status: txn.Running, Progress: make([]txn.Progress, n)}
	t.Branches = make([]txn.Branch, n)
	for i := range t.Branches {
		t.Branches[i] = txn.Branch{ID: fmt.Sprint("step", i), Do: "do", Undo: "undo"}
		if i > 0 {
			t.Branches[i].After = []string{t.Branches[i-1].ID}
		}
	}
	return t
}

// drive takes a saga to its end and back to the beginning.
func drive(b *testing.B, t *txn.Transaction) {
	for {
		p := saga.Mode{}.Plan(t, start)
		if p.Decide != "" {
			break
		}
		for _, s := range p.Run {
			plan.Apply(t, s, txn.Answer{Kind: txn.AnswerDone}, start)
		}
	}
	for i := range t.Progress {
		if !t.Progress[i].Do.State.Over() {
			b.Fatalf("step %d is %+v", i, t.Progress[i])
		}
	}
}

// BenchmarkPlan is all the planning of one saga, from a transaction without a graph
// to the decision.
func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{2, 10, 100, 1000} {
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			template := chain(n)
			for b.Loop() {
				t := template
				clear(t.Progress)
				drive(b, &t)
			}
		})
	}
}
