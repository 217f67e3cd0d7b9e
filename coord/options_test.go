package coord_test

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/check"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// TestAnOptionThatMakesNoSense is refused by its name.
func TestAnOptionThatMakesNoSense(t *testing.T) {
	for field, opts := range map[string]coord.Options{
		"lease":     {Lease: time.Millisecond},
		"poll":      {Poll: time.Hour},
		"claimers":  {Claimers: 65},
		"active":    {Active: -1},
		"perTarget": {PerTarget: -1},
		"perHost":   {PerHost: -1},
		"result":    {Result: -1},
		"results":   {Results: -1},
		"replica":   {Replica: strings.Repeat("x", 1000)},
		"callers":   {Callers: []txn.Caller{&picky{}, &picky{}}},

		"callers[1]":      {Callers: []txn.Caller{&picky{}, nil}},
		"retention.keep":  {Retention: coord.Retention{Keep: time.Nanosecond}},
		"limits.branches": {Limits: check.Limits{Branches: math.MaxInt}},
		"limits.payload":  {Limits: check.Limits{Payload: -1}},
		"limits.headers":  {Limits: check.Limits{Headers: -1}},
		"limits.timeout":  {Limits: check.Limits{Timeout: -1}},
	} {
		_, err := coord.New(memstore.New(nil), &opts)
		if problem, ok := errors.AsType[*input.Error](err); !ok || problem.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, keep := range []time.Duration{-2, coord.MinKeep - 1, coord.MaxKeep + 1} {
		_, err := coord.New(memstore.New(nil), &coord.Options{Retention: coord.Retention{Keep: keep}})
		if err == nil || !strings.HasSuffix(err.Error(), "want 100ms to 876000h0m0s, or -1") {
			t.Errorf("kept for %d: %v", keep, err)
		}
	}
	_, err := coord.New(memstore.New(nil), &coord.Options{Limits: check.Limits{Timeout: 366}})
	if err == nil || !strings.HasSuffix(err.Error(), "366ns: want 0 (default) or 1ms or more") {
		t.Errorf("days without their unit: %v", err)
	}
	_, err = coord.New(nil, nil)
	if problem, ok := errors.AsType[*input.Error](err); !ok || problem.Field != "store" {
		t.Errorf("no store: %v", err)
	}
}

// TestAFunctionThatCannotBeRegistered is refused by what is wrong with it.
func TestAFunctionThatCannotBeRegistered(t *testing.T) {
	c, err := coord.New(memstore.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	f := func(context.Context, txn.Call) ([]byte, error) { return nil, nil }
	if err := c.Register("taken", f); err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		name, field string
		f           txn.Func
	}{
		{"http://elsewhere", "name", f}, {"", "name", f}, {"taken", "name", f}, {"free", "function", nil},
	} {
		err := c.Register(one.name, one.f)
		if problem, ok := errors.AsType[*input.Error](err); !ok || problem.Field != one.field {
			t.Errorf("%q: %v", one.name, err)
		}
	}
}

// seenBy is an observer that keeps what it is told, and what the context says of it.
type seenBy struct {
	mu     sync.Mutex
	events []string
}

type whoKey struct{}

func (s *seenBy) Observe(ctx context.Context, e coord.Event) {
	who, _ := ctx.Value(whoKey{}).(string)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, string(e.Kind)+" "+who)
}

// TestObserversTellsAll of them everything, with the context of who has asked for it.
func TestObserversTellsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second, log := &seenBy{}, &seenBy{}, &lines{}
		c := start(t, memstore.New(nil), &coord.Options{
			Observer: coord.Observers(first, nil, second), Logger: slog.New(slog.NewTextHandler(log, nil)),
		}, newParticipants("take"))
		ctx := context.WithValue(t.Context(), whoKey{}, "me")
		d := txn.Definition{Mode: "saga", Branches: []txn.Branch{{ID: "take", Do: "take"}}}
		if _, err := c.Run(ctx, d); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		want := []string{"called ", "finished ", "submitted me"}
		for _, o := range []*seenBy{first, second} {
			slices.Sort(o.events) // they come from several goroutines
			if !slices.Equal(o.events, want) {
				t.Errorf("%q", o.events)
			}
		}
		if told := strings.Join(log.all(), "\n"); strings.Contains(told, "panic") {
			t.Error(told)
		}
	})
}

// TestAnObserverThatPanicsEndsEverything: neither the process nor the transaction ends.
func TestAnObserverThatPanicsEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &lines{}
		c := start(t, memstore.New(nil), &coord.Options{
			Observer: panicking{}, Logger: slog.New(slog.NewTextHandler(log, nil)),
		}, transferParts())
		if res, err := c.Run(t.Context(), transfer()); err != nil || res.Outcome != txn.Committed {
			t.Fatalf("%+v %v", res, err)
		}
		synctest.Wait()
		told := strings.Join(log.all(), "\n")
		for _, kind := range []coord.EventKind{coord.EventSubmitted, coord.EventCalled, coord.EventFinished} {
			if want := `msg="observer panicked" event=` + string(kind) + " id="; !strings.Contains(told, want) {
				t.Errorf("not told: %s", want)
			}
		}
	})
}

type panicking struct{}

// Observe implements [coord.Observer].
func (panicking) Observe(context.Context, coord.Event) { panic("out of paper") }

// slowOnSubmit is an observer that is slow to take note of a submit, and notes the others
// at once.
type slowOnSubmit struct{ kinds chan coord.EventKind }

func (s slowOnSubmit) Observe(_ context.Context, e coord.Event) {
	if e.Kind == coord.EventSubmitted {
		time.Sleep(time.Second)
	}
	s.kinds <- e.Kind
}

// TestSubmittedIsToldFirst: who counts transactions under way never has fewer than none.
func TestSubmittedIsToldFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		observer := slowOnSubmit{make(chan coord.EventKind, 9)}
		c := start(t, memstore.New(nil), &coord.Options{Observer: observer}, transferParts())
		if _, err := c.Run(t.Context(), transfer()); err != nil {
			t.Fatal(err)
		}
		want := []coord.EventKind{coord.EventSubmitted, coord.EventCalled, coord.EventCalled, coord.EventFinished}
		for i, kind := range want {
			if got := <-observer.kinds; got != kind {
				t.Errorf("event %d is %s: want %s", i+1, got, kind)
			}
		}
	})
}
