package saga_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/saga"
)

func define(t *testing.T, s *saga.Saga, payload any) txn.Definition {
	t.Helper()
	d, err := s.Definition(payload)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestSequence(t *testing.T) {
	got := define(t, saga.New("order").
		Step("stock", "stock.deduct", "stock.restore").
		Step("pay", "https://pay/charge", "https://pay/refund").
		Use("reservation", "stock.id").Payload(map[string]int{"amount": 5}).Policy(txn.Policy{Attempts: 3}).
		Step("mail", "mail.send", "").
		Timeout(time.Minute).Parallel(2).Backward().Header("tenant", "7"), map[string]int{"n": 1})
	want := txn.Definition{
		Mode: "saga", Name: "order", Payload: []byte(`{"n":1}`), Timeout: time.Minute, Parallel: 2,
		Recovery: txn.Backward, Headers: map[string]string{"tenant": "7"},
		Branches: []txn.Branch{
			{ID: "stock", Do: "stock.deduct", Undo: "stock.restore"},
			{
				ID: "pay", After: []string{"stock"}, Do: "https://pay/charge", Undo: "https://pay/refund",
				Payload: []byte(`{"amount":5}`), Use: map[string]string{"reservation": "stock.id"},
				Policy: &txn.Policy{Attempts: 3},
			},
			{ID: "mail", After: []string{"pay"}, Do: "mail.send"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestGraph(t *testing.T) {
	got := define(t, saga.New("trip").
		Step("flight", "f", "g").
		Step("hotel", "f", "g").After().
		Step("car", "f", "g").After("flight").
		Step("pay", "f", "g").After("car", "hotel").
		Forward(), nil)
	if got.Recovery != txn.Forward {
		t.Errorf("recovery %q", got.Recovery)
	}
	after(t, got, map[string][]string{"flight": nil, "hotel": nil, "car": {"flight"}, "pay": {"car", "hotel"}})
}

// after compares who waits for whom.
func after(t *testing.T, d txn.Definition, want map[string][]string) {
	t.Helper()
	got := make(map[string][]string)
	for _, b := range d.Branches {
		got[b.ID] = b.After
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A nested saga waits where its part waits, and whoever waits for it waits for all
// its last steps; so it is compensated in one piece, too.
func TestNested(t *testing.T) {
	label := saga.New("label").Step("print", "f", "g").Step("stick", "f", "g")
	ship := saga.New("ship").
		Step("pack", "f", "g").
		Nested("label", label).After().
		Step("insure", "f", "g").After("label").
		Step("weigh", "f", "g").After("pack").Use("kg", "pack.kg").Use("outer", "stock.id")
	got := define(t, saga.New("order").
		Step("stock", "f", "g").
		Nested("ship", ship).
		Step("mail", "f", "").
		Step("count", "f", "").After("ship/label"), nil)
	after(t, got, map[string][]string{
		"stock":            nil,
		"ship/pack":        {"stock"},
		"ship/label/print": {"stock"},
		"ship/label/stick": {"ship/label/print"},
		"ship/insure":      {"ship/label/stick"},
		"ship/weigh":       {"ship/pack"},
		"mail":             {"ship/insure", "ship/weigh"},
		"count":            {"ship/label/stick"},
	})
	i, _ := got.Branch("ship/weigh")
	if diff := cmp.Diff(map[string]string{"kg": "ship/pack.kg", "outer": "stock.id"}, got.Branches[i].Use); diff != "" {
		t.Error(diff)
	}
	after(t, define(t, ship, nil), map[string][]string{ // it can still be run by itself
		"pack": nil, "label/print": nil, "label/stick": {"label/print"}, "insure": {"label/stick"}, "weigh": {"pack"},
	})
}

// What is said about a nested saga holds for its steps that say nothing themselves.
func TestNestedModifiers(t *testing.T) {
	inner := saga.New("").Step("a", "f", "").
		Step("b", "f", "").Payload("own").Policy(txn.Policy{Attempts: 1}).Use("x", "a")
	got := define(t, saga.New("").Step("z", "f", "").
		Nested("n", inner).Payload("outer").Policy(txn.Policy{Attempts: 2}).Use("x", "z").Use("y", "z"), nil)
	want := []txn.Branch{
		{ID: "z", Do: "f"},
		{
			ID: "n/a", Do: "f", After: []string{"z"}, Payload: []byte(`"outer"`), Policy: &txn.Policy{Attempts: 2},
			Use: map[string]string{"x": "z", "y": "z"},
		},
		{
			ID: "n/b", Do: "f", After: []string{"n/a"}, Payload: []byte(`"own"`), Policy: &txn.Policy{Attempts: 1},
			Use: map[string]string{"x": "n/a", "y": "z"},
		},
	}
	if diff := cmp.Diff(want, got.Branches); diff != "" {
		t.Error(diff)
	}
	if d := define(t, inner, nil); d.Branches[0].Payload != nil || d.Branches[1].Use["y"] != "" {
		t.Errorf("the nested saga was changed: %+v", d.Branches)
	}
}

func TestNestedInItself(t *testing.T) {
	s := saga.New("").Step("a", "f", "")
	got := define(t, s.Nested("again", s).Nested("more", s), nil)
	after(t, got, map[string][]string{
		"a": nil, "again/a": {"a"}, "more/a": {"again/a"}, "more/again/a": {"more/a"},
	})
}

// entangled has steps that wait for more others than can be written down.
func entangled() *saga.Saga {
	const many = 1100
	inner := saga.New("")
	for i := range many {
		inner.Step(fmt.Sprint("i", i), "f", "").After()
	}
	outer := saga.New("").Nested("in", inner)
	for i := range many {
		outer.Step(fmt.Sprint("o", i), "f", "").After("in")
	}
	return outer
}

// Mistakes wait until the saga is used, and then nothing happens.
func TestMistakes(t *testing.T) {
	tests := map[string]struct {
		saga *saga.Saga
		want string
	}{
		"After first":   {saga.New("").After("a"), "after: comes before there is anything it could belong to"},
		"Use first":     {saga.New("").Use("a", "b"), "use: comes before"},
		"Payload first": {saga.New("").Payload(1), "payload: comes before"},
		"Policy first":  {saga.New("").Policy(txn.Policy{}), "policy: comes before"},
		"payload": {
			saga.New("").Step("a", "f", "").Payload(math.Inf(1)), "steps[0].payload: json: unsupported value",
		},
		"empty":   {saga.New("").Nested("n", saga.New("")), "steps: nested n is empty"},
		"no ID":   {saga.New("").Nested("", saga.New("").Step("a", "f", "")), "steps: one that is nested has no id"},
		"no saga": {saga.New("").Step("a", "f", "").Nested("n", nil), "nested n: is nil"},
		"inner mistake": {
			saga.New("").Nested("n", saga.New("").Use("a", "b").Step("a", "f", "")), "use: comes before",
		},
		"nested timeout": {
			saga.New("").Nested("n", saga.New("").Step("a", "f", "").Timeout(1)), "nested n: timeout, recovery",
		},
		"nested ID": {
			saga.New("").Nested("n", saga.New("").Step("a", "f", "").ID("x")), "nested n: timeout, recovery",
		},
		"step like part": {
			saga.New("").Nested("n", saga.New("").Step("a", "f", "")).Step("n", "f", ""),
			"steps: two parts are called n",
		},
		"too many links": {saga.New("").Nested("n", entangled()), "steps: too many of them wait for too many others"},
		"part like step": {
			saga.New("").Step("n", "f", "").Nested("n", saga.New("").Step("a", "f", "")),
			"steps: two parts are called n",
		},
		"part like part": {
			saga.New("").Nested("n", saga.New("").Step("a", "f", "")).Nested("n", saga.New("").Step("b", "f", "")),
			"steps: two parts are called n",
		},
		"several of them": {
			saga.New("").After("a").Use("a", "b"),
			"after: comes before there is anything it could belong to\nuse: comes before",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := test.saga.Definition(nil)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			if _, ok := errors.AsType[*txn.InvalidError](err); !ok {
				t.Errorf("%T", err)
			}
			if _, err := test.saga.Submit(t.Context(), nil, nil); err == nil { // nil: would panic if it was used
				t.Error("submitted")
			}
			if _, err := test.saga.Run(t.Context(), nil, nil); err == nil {
				t.Error("run")
			}
		})
	}
	_, err := saga.New("").Step("a", "f", "").Definition(func() {})
	if err == nil || !strings.HasPrefix(err.Error(), "payload: json: unsupported type") {
		t.Errorf("payload: %v", err)
	}
}

// One saga can be used by many at once, and what they get is theirs.
func TestShared(t *testing.T) {
	s := saga.New("order").Step("a", "f", "").Nested("n", saga.New("").Step("b", "f", "")).
		Step("c", "f", "").Header("h", "1")
	want := define(t, s, nil)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			mine := s.ID("mine").Step("d", "f", "").Header("h", "2")
			d, err := mine.Definition(1)
			if err != nil || d.ID != "mine" || len(d.Branches) != 4 || d.Headers["h"] != "2" {
				t.Errorf("%+v, %v", d, err)
			}
			d, err = s.Definition(nil)
			if err != nil {
				t.Error(err)
				return
			}
			d.Branches = append(d.Branches[:1], txn.Branch{ID: "x"})
			d.Branches[0].ID = "changed"
		})
	}
	all.Wait()
	if diff := cmp.Diff(want, define(t, s, nil)); diff != "" {
		t.Error(diff)
	}
}
