package saga_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/saga"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A saga with a nested one is compensated in one piece and in reverse, and a step
// gets the results of steps of the same saga.
func TestNestedRollsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var did []string
		step := func(_ context.Context, call txn.Call) ([]byte, error) {
			mu.Lock()
			defer mu.Unlock()
			did = append(did, call.Op+" "+call.Branch+" "+string(call.Payload))
			if call.Branch == "pay" && call.Op == "action" {
				return nil, txn.Abort(errors.New("not enough money"))
			}
			return []byte(`{"id":"` + call.Branch + `"}`), nil
		}
		co, err := coord.New(memstore.New(nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(co.Register("f", step), co.Start(t.Context())); err != nil {
			t.Fatal(err)
		}
		ship := saga.New("ship").Step("pack", "f", "f").Step("label", "f", "f").Use("parcel", "pack.id")
		res, err := saga.New("order").
			Step("stock", "f", "f").
			Nested("ship", ship).Use("stock", "stock.id").
			Step("pay", "f", "f").Use("label", "ship/label.id").
			Run(t.Context(), co, nil)
		if _, ok := errors.AsType[*txn.RolledBackError](err); !ok || res.Outcome != txn.RolledBack {
			t.Errorf("%+v, %v", res, err)
		}
		want := []string{
			"action stock ",
			`action ship/pack {"stock":"stock"}`,
			`action ship/label {"parcel":"ship/pack","stock":"stock"}`,
			`action pay {"label":"ship/label"}`,
			`compensate ship/label {"parcel":"ship/pack","stock":"stock"}`,
			`compensate ship/pack {"stock":"stock"}`,
			"compensate stock ",
		}
		if diff := cmp.Diff(want, did); diff != "" {
			t.Error(diff)
		}
		if err := co.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A saga that is submitted is driven without anybody waiting, and once only.
func TestSubmitTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var calls []string
		co, err := coord.New(memstore.New(nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		note := func(_ context.Context, call txn.Call) ([]byte, error) {
			mu.Lock()
			defer mu.Unlock()
			calls = append(calls, call.Branch)
			return nil, nil
		}
		if err := errors.Join(co.Register("f", note), co.Start(t.Context())); err != nil {
			t.Fatal(err)
		}
		s := saga.New("order").Step("a", "f", "").Step("b", "f", "").After().ID("order-42")
		for range 2 {
			if id, err := s.Submit(t.Context(), co, 1); err != nil || id != "order-42" {
				t.Errorf("%q, %v", id, err)
			}
			synctest.Wait()
		}
		if _, err := s.Submit(t.Context(), co, 2); !errors.Is(err, txn.ErrExists) {
			t.Errorf("other content: %v", err)
		}
		if slices.Sort(calls); !slices.Equal(calls, []string{"a", "b"}) {
			t.Errorf("calls %v", calls)
		}
		if err := co.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
