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
)

// picky is a caller that may not call everybody.
type picky struct {
	schemes []string // http unless it says so
	mu      sync.Mutex
	called  []string
}

func (p *picky) Schemes() []string {
	if p.schemes == nil {
		return []string{"http"}
	}
	return p.schemes
}

func (*picky) Check(target txn.Target) error {
	if strings.Contains(string(target), "secret") {
		return errors.New("not for you")
	}
	return nil
}

func (p *picky) Call(_ context.Context, target txn.Target, call txn.Call) txn.Answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.called = append(p.called, string(target)+" "+call.Op)
	return txn.Answer{Kind: txn.AnswerDone}
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
			"check.target": {
				Mode: "msg", Check: &txn.Check{Target: target}, Branches: []txn.Branch{{ID: "a", Confirm: "f"}},
			},
		} {
			t.Run(field+" "+string(target), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := start(t, memstore.New(nil), &coord.Options{Callers: []txn.Caller{&picky{}}}, nil)
					accept := c.Submit
					if d.Check != nil {
						accept = c.Begin
					}
					_, err := accept(t.Context(), d)
					if problem, ok := errors.AsType[*txn.InvalidError](err); !ok || problem.Field != field {
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
		plain, secure := &picky{}, &picky{schemes: []string{"https"}}
		c := start(t, memstore.New(nil), &coord.Options{Callers: []txn.Caller{plain, secure}}, nil)
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

// TestTwoCallersForOneScheme are refused: nobody would know which of them is to call.
func TestTwoCallersForOneScheme(t *testing.T) {
	store := memstore.New(nil)
	_, err := coord.New(store, &coord.Options{Callers: []txn.Caller{
		&picky{schemes: []string{"http", "https"}}, &picky{schemes: []string{"https"}},
	}})
	if err == nil || !strings.Contains(err.Error(), "two callers for https") {
		t.Errorf("got %v", err)
	}
}

// TestSchemesThatNoTargetHas are refused: their caller would never be called.
func TestSchemesThatNoTargetHas(t *testing.T) {
	for _, scheme := range []string{"", "async", "topic", "HTTP", "a b", "http:", "http://", strings.Repeat("x", 33)} {
		_, err := coord.New(memstore.New(nil), &coord.Options{Callers: []txn.Caller{&picky{schemes: []string{scheme}}}})
		if problem, ok := errors.AsType[*txn.InvalidError](err); !ok || problem.Field != "callers" {
			t.Errorf("%q: %v", scheme, err)
		}
	}
}

// TestSchemesThatNobodyCalls are refused, whatever they are, and the error says which are
// called.
func TestSchemesThatNobodyCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), &coord.Options{
			Callers: []txn.Caller{&picky{schemes: []string{"kafka", "http"}}},
		}, nil)
		for _, target := range []txn.Target{
			"ftp://host/x", "async:ftp://x", "javascript:alert(1)", "file://host/etc/passwd", "a:b", "https://host/x",
			"grpc://host:1/a.B/C",
		} {
			_, err := c.Submit(t.Context(), txn.Definition{Mode: "saga", Branches: []txn.Branch{{ID: "a", Do: target}}})
			if err == nil || !strings.Contains(err.Error(), "targets; it calls functions and targets of http, kafka") {
				t.Errorf("%s: %v", target, err)
			}
		}
		if _, err := c.Run(t.Context(), txn.Definition{
			Mode: "saga", Branches: []txn.Branch{{ID: "a", Do: "kafka:orders"}},
		}); err != nil {
			t.Error(err)
		}
	})
}
