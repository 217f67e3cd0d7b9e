package plan_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// The pause doubles up to the maximum, and jitter takes away at most a quarter.
func TestPause(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		allowed := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(int64(time.Millisecond), int64(30*24*time.Hour)))
		p := txn.Policy{
			Backoff: time.Duration(allowed.Draw(t, "backoff")), MaxBackoff: time.Duration(allowed.Draw(t, "max")),
		}
		n := rapid.IntRange(1, 1_000_000).Draw(t, "n")
		full := fullPause(p, n)
		got := plan.Pause(p, n, rapid.Uint64().Draw(t, "seed"))
		if got > full || got < full-full/4 {
			t.Fatalf("pause %d of %+v is %v, want %v less up to a quarter", n, p, got, full)
		}
	})
}

// fullPause is the pause without jitter, told in another way.
func fullPause(p txn.Policy, n int) time.Duration {
	first, most := p.Backoff, p.MaxBackoff
	if first == 0 {
		first = 500 * time.Millisecond
	}
	if most == 0 {
		most = time.Minute
	}
	if most < first {
		most = first
	}
	if n > 40 || float64(first)*float64(int64(1)<<(n-1)) > float64(most) {
		return most
	}
	return first << (n - 1)
}

// Transactions that failed together come back one after another, not together.
func TestJitterSpreads(t *testing.T) {
	const many, slots = 8000, 8
	var count [slots]int
	for seed := range uint64(many) {
		lost := 4*time.Second - plan.Pause(txn.Policy{Backoff: 4 * time.Second}, 1, seed*0x5851F42D4C957F2D)
		count[min(int(lost*slots/time.Second), slots-1)]++
	}
	for slot, n := range count {
		if n < many/slots/2 || n > many/slots*2 {
			t.Errorf("%d of %d come back in slot %d: %v", n, many, slot, count)
		}
	}
}

// Different transactions, branches and phases wait differently, and the same ones
// always alike.
func TestJitterComesFromTheCall(t *testing.T) {
	due := func(id string, branch int) time.Time {
		tx := &txn.Transaction{
			Definition: txn.Definition{ID: id, Branches: make([]txn.Branch, 600)},
			Progress:   make([]txn.Progress, 600),
		}
		plan.Apply(tx, do(branch), txn.Answer{Kind: txn.AnswerFailed}, start)
		return tx.Progress[branch].Do.Due
	}
	if !due("a", 1).Equal(due("a", 1)) {
		t.Error("the same call waits differently")
	}
	if due("a", 1).Equal(due("b", 1)) || due("a", 1).Equal(due("a", 2)) || due("a", 1).Equal(due("a", 257)) {
		t.Error("different calls wait alike")
	}
}

func TestTimeout(t *testing.T) {
	if got := plan.Timeout(txn.Policy{}); got != 10*time.Second {
		t.Errorf("default %v", got)
	}
	if got := plan.Timeout(txn.Policy{Timeout: time.Second}); got != time.Second {
		t.Errorf("own %v", got)
	}
}
