package barrier_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
)

// settle delivers a call until there is a definite answer, as a coordinator does.
func (e *engine) settle(t *testing.T, call txn.Call, work barrier.Work) (string, barrier.Verdict) {
	t.Helper()
	for range 100 {
		result, v, err := e.b.Do(t.Context(), call, work)
		if err == nil || txn.Aborted(err) {
			return string(result), v
		}
		t.Logf("%s: %v", call.Op, err)
	}
	t.Errorf("%s of %s: no answer", call.Op, call.Transaction)
	return "", barrier.Undecided
}

// together runs functions at the same instant and waits for all.
func together(functions ...func()) {
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	for _, f := range functions {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-start
			f()
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
}

func testConcurrentDuplicates(t *testing.T, e *engine) {
	const rounds, deliveries = 20, 12
	a := e.account(t)
	for round := range rounds {
		var ran, duplicates atomic.Int64
		want := fmt.Sprint(round)
		deliver := func() {
			result, v := e.settle(t, call(id(t, want), "action"), a.add(1, want))
			switch {
			case v == barrier.Ran:
				ran.Add(1)
			case v == barrier.Duplicate && (result == want || !e.native()):
				duplicates.Add(1)
			default:
				t.Errorf("round %d: %v, result %q", round, v, result)
			}
		}
		functions := make([]func(), deliveries)
		for i := range functions {
			functions[i] = deliver
		}
		together(functions...)
		if ran.Load() != 1 || duplicates.Load() != deliveries-1 {
			t.Errorf("round %d: ran %d times, %d duplicates", round, ran.Load(), duplicates.Load())
		}
	}
	a.want(t, rounds)
}

// testForwardAndBackAtOnce: whoever is first, nothing is left.
func testForwardAndBackAtOnce(t *testing.T, e *engine) {
	rounds := 1000
	if testing.Short() || !e.native() {
		rounds = 100
	}
	a := e.account(t)
	count := map[barrier.Verdict]int{}
	for round := range rounds {
		tx := id(t, fmt.Sprint(round))
		var forward, back barrier.Verdict
		together(
			func() { _, forward = e.settle(t, call(tx, "try"), a.add(1, "")) },
			func() { _, back = e.settle(t, call(tx, "cancel"), a.add(-1, "")) },
		)
		bothRan := forward == barrier.Ran && back == barrier.Ran
		if !bothRan && !(forward == barrier.Hanging && back == barrier.EmptyCompensation) {
			t.Fatalf("round %d: forward %v, back %v", round, forward, back)
		}
		count[forward]++
	}
	a.want(t, 0)
	t.Logf("forward was first %d times, back %d times", count[barrier.Ran], count[barrier.Hanging])
	if count[barrier.Ran] == 0 || count[barrier.Hanging] == 0 {
		t.Log("one of them was always first")
	}
}

// testRetriedRefusalAndBackAtOnce: the mark of a refusal goes to one of them.
func testRetriedRefusalAndBackAtOnce(t *testing.T, e *engine) {
	if !e.native() {
		t.Skip("refusals are not kept in this layout")
	}
	a := e.account(t)
	for round := range 200 {
		tx := id(t, fmt.Sprint(round))
		e.do(t, call(tx, "action"), then(a.add(1, ""), txn.Abort(errors.New("no"))), barrier.Refused, "")
		again := call(tx, "action")
		again.Attempt = 2
		var forward, duplicate, back barrier.Verdict
		together(
			func() { _, forward = e.settle(t, again, a.add(1, "")) },
			func() { _, duplicate = e.settle(t, again, a.add(1, "")) },
			func() { _, back = e.settle(t, call(tx, "compensate"), a.add(-1, "")) },
		)
		ran := forward == barrier.Ran || duplicate == barrier.Ran
		hung := forward == barrier.Hanging && duplicate == barrier.Hanging
		if !(ran && back == barrier.Ran || hung && back == barrier.EmptyCompensation) {
			t.Fatalf("round %d: forward %v and %v, back %v", round, forward, duplicate, back)
		}
	}
	a.want(t, 0)
}

// testCheckAndCommitAtOnce: what the producer is told and what the coordinator is
// told agree.
func testCheckAndCommitAtOnce(t *testing.T, e *engine) {
	a := e.account(t)
	committed := 0
	for round := range 200 {
		message := id(t, fmt.Sprint(round))
		var produced error
		var refused bool
		together(
			func() { produced = e.produce(t.Context(), message, a.add(1, "")) },
			func() { refused = e.check(t, message) },
		)
		switch {
		case produced == nil:
			committed++
		case !errors.Is(produced, barrier.ErrRolledBack):
			t.Fatalf("round %d: %v", round, produced)
		}
		if refused != (produced != nil) {
			t.Fatalf("round %d: producer got %v, coordinator a refusal: %v", round, produced, refused)
		}
	}
	a.want(t, committed)
	t.Logf("%d of 200 were committed", committed)
}

// produce is a local transaction with a message.
func (e *engine) produce(ctx context.Context, message string, work barrier.Work) error {
	tx, err := e.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := e.b.Prepare(ctx, tx, message); err != nil {
		return err
	}
	if _, err := work(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// check asks until there is a definite answer and reports whether it is a refusal.
func (e *engine) check(t *testing.T, message string) bool {
	t.Helper()
	var err error
	for range 100 {
		_, err = e.b.Check(t.Context(), txn.Call{Transaction: message, Op: "check"})
		if err == nil || txn.Aborted(err) {
			return err != nil
		}
	}
	t.Errorf("check of %s: %v", message, err)
	return false
}
