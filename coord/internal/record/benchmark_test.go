package record

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/txn"
)

// byReflection is a state as encoding/json writes it.
func byReflection(t *txn.Transaction) ([]byte, error) {
	s := state{
		Reason: t.Reason, Progress: t.Progress, Checked: t.Checked, Attempts: t.Attempts, Dropped: t.Dropped,
		Complete: true, Epoch: t.Epoch,
	}
	if !t.Decided.IsZero() {
		s.Decided = t.Decided.UnixMicro()
	}
	return json.Marshal(&s)
}

// sagaOf is a saga whose branches have all been called.
func sagaOf(branches int) *txn.Transaction {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678000, time.UTC)
	t := &txn.Transaction{Epoch: 1, Decided: at, Progress: make([]txn.Progress, branches)}
	for i := range t.Progress {
		t.Progress[i].Do = txn.Op{State: txn.Done, Tries: 1, Calls: 1, Result: []byte(`{"id":"ch_1234","amount":30}`)}
		t.Attempts = append(t.Attempts, txn.Attempt{
			Branch: "charge", Op: "action", Number: 1, Target: "https://pay.example.com/charge", At: at,
			Took: 12 * time.Millisecond, Answer: "done", Excerpt: `{"id":"ch_1234","amount":30}`, By: "replica-1",
		})
	}
	return t
}

// BenchmarkState compares the state as it is written by hand with what encoding/json takes
// for the same. docs/adr/0028 has its figures.
func BenchmarkState(b *testing.B) {
	for name, t := range map[string]*txn.Transaction{"of 2 branches": sagaOf(2), "of 50 branches": sagaOf(50)} {
		b.Run("by hand, "+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				EncodeState(t, true)
			}
		})
		b.Run("encoding-json, "+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := byReflection(t); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
