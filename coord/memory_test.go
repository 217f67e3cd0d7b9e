package coord_test

import (
	"bytes"
	stdcmp "cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/internal/scramble"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// plentiful is a transaction that refers to memory wherever it can.
func plentiful(mode string, begun bool) txn.Definition {
	d := txn.Definition{
		ID: "order-" + mode, Mode: mode, Name: "order", Payload: []byte(`{"amount":30}`),
		Headers: map[string]string{"tenant": "one"},
		Branches: []txn.Branch{
			{ID: "a", Do: "step", Confirm: "step", Undo: "step", Payload: []byte(`{"part":"a"}`)},
			{
				ID: "b", After: []string{"a"}, Do: "step", Undo: "step",
				Policy: &txn.Policy{Attempts: 3, Backoff: 10 * time.Second},
			},
			{ID: "c", After: []string{"b"}, Do: "step", Undo: "step", Use: map[string]string{"by": "a.by"}},
		},
	}
	for i := range d.Branches {
		b := &d.Branches[i]
		switch {
		case mode == "saga":
			b.Confirm = ""
		case mode == "msg":
			b.Confirm, b.Do, b.Undo, b.After, b.Use = "step", "", "", nil, nil
		case begun:
			b.Confirm, b.Do, b.After, b.Use = "step", "", nil, nil
		}
	}
	if mode == "msg" && begun {
		d.Check = &txn.Check{Target: "step", After: time.Second, Policy: &txn.Policy{Attempts: 3}}
	}
	return d
}

// scribbler is a function that remembers its calls, fails once, and writes all over
// what it was given.
type scribbler struct {
	mu    sync.Mutex
	calls []txn.Call
}

func (s *scribbler) call(_ context.Context, call txn.Call) ([]byte, error) {
	time.Sleep(time.Second)
	s.mu.Lock()
	defer s.mu.Unlock()
	copied := call
	copied.Payload, copied.Result = bytes.Clone(call.Payload), bytes.Clone(call.Result)
	copied.Headers = map[string]string{"tenant": call.Headers["tenant"]}
	copied.Deadline = time.Time{}
	s.calls = append(s.calls, copied)
	scramble.Over(&call)
	if copied.Branch == "b" && copied.Attempt == 1 {
		return nil, errBroken
	}
	return []byte(`{"by":"` + copied.Branch + `"}`), nil
}

// TestMemoryIsReadAfterItWasGivenBack: a caller uses its buffers again as soon as
// Submit, Begin or Enlist has returned, and a participant those of its call. What is
// done must be what was asked for, all the same.
func TestMemoryIsReadAfterItWasGivenBack(t *testing.T) {
	for _, mode := range []string{"saga", "tcc", "msg"} {
		for _, begun := range []bool{false, true} {
			if mode == "saga" && begun {
				continue
			}
			t.Run(mode+map[bool]string{true: " begun"}[begun], func(t *testing.T) {
				untouched := carriedOut(t, plentiful(mode, begun), begun, func(any) {})
				scrambled := carriedOut(t, plentiful(mode, begun), begun, scramble.Over)
				if diff := cmp.Diff(untouched, scrambled); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// carriedOut is all that participants are told in the life of a transaction.
func carriedOut(t *testing.T, d txn.Definition, begun bool, after func(any)) (calls []txn.Call) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c, parts := start(t, memstore.New(nil), nil, nil), &scribbler{}
		register(t, c, "step", parts.call)
		id := d.ID
		if begun {
			last := d.Branches[2:]
			first := d
			first.Branches = d.Branches[:2:2]
			must(t, second(c.Begin(t.Context(), first)))
			must(t, c.Enlist(t.Context(), id, last...))
			after(&d)
			must(t, c.Commit(t.Context(), id))
		} else {
			must(t, second(c.Submit(t.Context(), d)))
			after(&d)
		}
		res, err := c.Wait(t.Context(), id)
		if err != nil {
			t.Fatalf("%+v %v", res, err)
		}
		calls = parts.calls
		slices.SortFunc(calls, func(a, b txn.Call) int {
			return stdcmp.Or(strings.Compare(a.Branch, b.Branch), strings.Compare(a.Op, b.Op), a.Attempt-b.Attempt)
		})
	})
	return calls
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestResultsAreOneMemory for all who wait, and for the function that returned them.
func TestResultsAreOneMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, nil)
		answer := []byte(`"mine"`)
		register(t, c, "step", func(context.Context, txn.Call) ([]byte, error) {
			time.Sleep(time.Second)
			return answer, nil
		})
		d := txn.Definition{ID: "x", Mode: "saga", Branches: []txn.Branch{{ID: "a", Do: "step"}}}
		results := make(chan txn.Result, 2)
		go func() {
			res, _ := c.Run(t.Context(), d)
			results <- res
		}()
		synctest.Wait()
		go func() {
			res, _ := c.Wait(t.Context(), "x")
			results <- res
		}()
		one, two := <-results, <-results
		scramble.Over(&one)
		if got := string(two.Returned["a"]) + string(answer); got != `"mine""mine"` {
			t.Errorf("the other one has %s", got)
		}
	})
}

// TestAResultIsReadLater, when the function that returned it has used its buffer again.
func TestAResultIsReadLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, nil)
		var buffer []byte
		register(t, c, "step", func(_ context.Context, call txn.Call) ([]byte, error) {
			buffer = append(buffer[:0], call.Branch...)
			return buffer, nil
		})
		res, err := c.Run(t.Context(), txn.Definition{Mode: "saga", Branches: []txn.Branch{
			{ID: "a", Do: "step"}, {ID: "b", Do: "step", After: []string{"a"}},
		}})
		if a, b := string(res.Returned["a"]), string(res.Returned["b"]); err != nil || a+b != "ab" {
			t.Errorf("%q and %q, %v", a, b, err)
		}
	})
}

// TestCallersAreReadLater, while their list is being changed.
func TestCallersAreReadLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		callers := []txn.Caller{&picky{}}
		c := start(t, memstore.New(nil), &coord.Options{Callers: callers}, nil)
		clear(callers)
		if res, err := c.Run(t.Context(), txn.Definition{
			Mode: "msg", Branches: []txn.Branch{{ID: "a", Confirm: "http://good/"}},
		}); err != nil {
			t.Errorf("%+v %v", res, err)
		}
	})
}

// TestAnEmptyPayloadBecomesTheDefinitions as soon as a transaction comes back from its
// store.
func TestAnEmptyPayloadBecomesTheDefinitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := transferParts()
		parts.answer("take", errBroken, nil)
		c := start(t, memstore.New(nil), nil, parts)
		d := transfer()
		d.Branches[0].Payload = []byte{}
		d.Branches[0].Policy = &txn.Policy{Backoff: 2 * time.Second}
		if _, err := c.Run(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		for i, call := range parts.calls[:2] {
			if len(call.Payload) > 0 {
				t.Errorf("call %d: %s", i, call.Payload)
			}
		}
	})
}
