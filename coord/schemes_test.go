package coord_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/plan"
)

// picky is a caller that may not call everybody.
type picky struct {
	mu     sync.Mutex
	called []string
}

func (*picky) Check(target txn.Target) error {
	if strings.Contains(string(target), "secret") {
		return errors.New("not for you")
	}
	return nil
}

func (p *picky) Call(_ context.Context, target txn.Target, call txn.Call) plan.Answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.called = append(p.called, string(target)+" "+call.Op)
	return plan.Answer{Kind: plan.Done}
}

// TestTargetsThatMayNotBeCalled are refused before anything happens, wherever they
// are.
func TestTargetsThatMayNotBeCalled(t *testing.T) {
	for _, target := range []txn.Target{"http://secret/", "https://public/"} {
		for field, d := range map[string]txn.Definition{
			"branches[0].do":   {Mode: "saga", Branches: []txn.Branch{{ID: "a", Do: target, Undo: "f"}}},
			"branches[0].undo": {Mode: "saga", Branches: []txn.Branch{{ID: "a", Do: "f", Undo: target}}},
			"branches[1].confirm": {Mode: "tcc", Branches: []txn.Branch{
				{ID: "a", Do: "f", Confirm: "f", Undo: "f"}, {ID: "b", Confirm: "async:" + target},
			}},
			"branches[0].policy.hook": {Mode: "saga", Branches: []txn.Branch{{
				ID: "a", Do: "f", Undo: "f", Policy: &txn.Policy{Attempts: 1, Then: txn.Hook, Hook: target},
			}}},
			"check.target": {Mode: "msg", Check: &txn.Check{Target: target}, Branches: []txn.Branch{{ID: "a", Confirm: "f"}}},
		} {
			t.Run(field+" "+string(target), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := start(t, memstore.New(nil), &coord.Options{Callers: map[string]coord.Caller{"http": &picky{}}}, nil)
					accept := c.Submit
					if d.Check != nil {
						accept = c.Begin
					}
					_, err := accept(t.Context(), d)
					if problem, ok := errors.AsType[*txn.FieldError](err); !ok || problem.Field != field {
						t.Errorf("got %v", err)
					}
					if err := c.Subscribe(t.Context(), "orders", target); err == nil {
						t.Error("it may subscribe to a topic")
					}
				})
			})
		}
	}
}

func TestTargetsAreCalledByTheirScheme(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plain, secure := &picky{}, &picky{}
		c := start(t, memstore.New(nil), &coord.Options{Callers: map[string]coord.Caller{"http": plain, "https": secure}}, nil)
		if res, err := c.Run(t.Context(), txn.Definition{Mode: "saga", Branches: []txn.Branch{
			{ID: "a", Do: "http://stock/deduct"}, {ID: "b", Do: "https://bank/charge", After: []string{"a"}},
		}}); err != nil {
			t.Fatalf("%+v %v", res, err)
		}
		if diff := cmp.Diff([]string{"http://stock/deduct action"}, plain.called); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"https://bank/charge action"}, secure.called); diff != "" {
			t.Error(diff)
		}
	})
}
