package coord

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bedrock-go/bedrock/txn"
)

// TestNoAttemptIsForgotten notes calls and interventions in any order: what is kept and
// what is dropped are all of them, and equal ones stand together only where nobody has
// intervened and the branch has had no other answer in between.
func TestNoAttemptIsForgotten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tx := &txn.Transaction{}
		calls, people := map[string]int{}, 0
		from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		total := rapid.IntRange(0, 300).Draw(t, "total")
		last := make(map[string]txn.Attempt) // by branch, since somebody intervened
		for i := range total {
			a := txn.Attempt{
				At: from.Add(time.Duration(i) * time.Minute), By: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "by"),
			}
			if rapid.IntRange(0, 19).Draw(t, "person") == 0 {
				a.Op, a.Answer = "operator", "retry"
				addAttempt(tx, a)
				people++
				clear(last)
				continue
			}
			a.Branch = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "branch")
			calls[a.Branch]++
			a.Op, a.Number = "action", calls[a.Branch]
			a.Answer = rapid.SampledFrom([]string{"failed", "failed", "failed", "pending"}).Draw(t, "answer")
			before, entries := last[a.Branch], len(tx.Attempts)
			addAttempt(tx, a)
			if merged := len(tx.Attempts) == entries; tx.Dropped == 0 && merged != (before.Answer == a.Answer) {
				t.Fatalf("%s after %q became part of an entry: %v", a.Answer, before.Answer, merged)
			}
			last[a.Branch] = a
		}
		if kept := sumOf(tx); kept+tx.Dropped != total || len(tx.Attempts) > firstAttempts+lastAttempts {
			t.Fatalf("%d attempts: %d kept in %d entries, %d dropped", total, kept, len(tx.Attempts), tx.Dropped)
		}
	})
}

func sumOf(tx *txn.Transaction) (n int) {
	for i := range tx.Attempts {
		n += tx.Attempts[i].Times()
	}
	return n
}
