package coord_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// number is what tells one delivery of a call from another.
type number struct {
	Epoch   int64
	Attempt int
}

// numbers lists those of the calls to one branch.
func (p *participants) numbers(branch string) []number {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []number
	for _, call := range p.calls {
		if call.Branch == branch {
			list = append(list, number{call.Epoch, call.Attempt})
		}
	}
	return list
}

// TestCallsSayWhoseTheyAre: a participant can tell a late delivery from a newer
// call, within one owner by the attempt and between owners by the epoch.
func TestCallsSayWhoseTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := transferParts()
		parts.answer("give", errBroken)
		store, dying, c1 := mortalOwner(t, parts)
		id, err := c1.Submit(t.Context(), transfer())
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		die(dying)
		parts.answer("give", errBroken, errBroken, nil)
		c2 := start(t, store, nil, nil)
		register(t, c2, "take", parts.function("take"))
		register(t, c2, "give", parts.function("give"))
		if res, err := c2.Wait(t.Context(), id); err != nil {
			t.Fatalf("%+v %v", res, err)
		}
		// What the first owner tried while it was cut off is its own business.
		mine := slices.DeleteFunc(parts.numbers("give"), func(n number) bool { return n.Epoch == 1 })
		if diff := cmp.Diff([]number{{2, 1}, {2, 2}}, mine[:min(len(mine), 2)]); diff != "" {
			t.Errorf("%s\nof %v", diff, parts.numbers("give"))
		}
	})
}

// TestRetriesOutliveTheirCoordinator: how often a step has failed, and when it is
// due again, is in the store while it waits.
func TestRetriesOutliveTheirCoordinator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := transferParts()
		parts.answer("give", errBroken)
		store, dying, c1 := mortalOwner(t, parts)
		d := transfer()
		d.Branches[1].Policy = &txn.Policy{Backoff: 20 * time.Second, Attempts: 3, Then: txn.Park}
		id, err := c1.Submit(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		die(dying)
		began := time.Now()
		c2 := start(t, store, nil, parts)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if _, err := c2.Wait(ctx, id); err == nil {
			t.Error("not parked")
		}
		if n := len(parts.numbers("give")); n != 3 {
			t.Errorf("%d attempts, want 3", n)
		}
		if took := time.Since(began); took < 40*time.Second {
			t.Errorf("the pauses were 20 s and 40 s, less a quarter at most; over after %v", took)
		}
		if tx := get(t, c2, id); tx.Parked == "" || noted(tx) != 4 {
			t.Errorf("parked %q after %d recorded attempts", tx.Parked, noted(tx))
		}
	})
}

// TestAnErrorIsNoOutage: a participant that answers is up, whatever it answers.
func TestAnErrorIsNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := &counter{}
		c := start(t, memstore.New(nil), &coord.Options{Observer: events},
			newParticipants("give-back", "give", "take-back"))
		register(t, c, "take", func(_ context.Context, call txn.Call) ([]byte, error) {
			if string(call.Payload) == "{}" {
				return nil, errBroken
			}
			return nil, nil
		})
		bad := transfer()
		bad.Payload = []byte("{}")
		for range 50 {
			if _, err := c.Submit(t.Context(), bad); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(5 * time.Second)
		began := time.Now()
		if res, err := c.Run(t.Context(), transfer()); err != nil {
			t.Fatalf("%+v %v", res, err)
		}
		if took := time.Since(began); took > 100*time.Millisecond {
			t.Errorf("held up for %v by the errors of others", took)
		}
		if n := events.count(coord.EventBreakerOpened); n != 0 {
			t.Errorf("taken for down %d times", n)
		}
	})
}

func TestAPanicIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, newParticipants("take", "give-back", "take-back"))
		var calls atomic.Int32
		register(t, c, "give", func(context.Context, txn.Call) ([]byte, error) {
			if calls.Add(1) < 3 {
				panic("out of luck")
			}
			return nil, nil
		})
		res, err := c.Run(t.Context(), transfer())
		if err != nil || calls.Load() != 3 {
			t.Errorf("%+v %v, after %d calls", res, err, calls.Load())
		}
		if a := get(t, c, res.ID).Attempts[1]; a.Answer != "failed" || a.Excerpt != "panic: out of luck" {
			t.Errorf("recorded as %+v", a)
		}
	})
}

// mad makes its first call and panics.
type mad struct{ scripted }

func (m *mad) Call(ctx context.Context, target txn.Target, call txn.Call) txn.Answer {
	if m.calls.Load() == 0 {
		defer panic("out of its mind")
	}
	return m.scripted.Call(ctx, target, call)
}

// TestWhoMakesCallsPanics: as when a function does.
func TestWhoMakesCallsPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), &coord.Options{Callers: []txn.Caller{&mad{}}}, nil)
		d := txn.Definition{Mode: "saga", Branches: []txn.Branch{{ID: "a", Do: "http://x/"}}}
		res, err := c.Run(t.Context(), d)
		if err != nil {
			t.Fatalf("%+v %v", res, err)
		}
		attempts := get(t, c, res.ID).Attempts
		if len(attempts) != 2 || attempts[0].Answer != "failed" || attempts[0].Excerpt != "panic: out of its mind" {
			t.Errorf("recorded as %+v", attempts)
		}
	})
}

// TestACallBrokenOffUsesNoAttempt: a coordinator stops amid a call that is the last
// one allowed.
func TestACallBrokenOffUsesNoAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(nil)
		c1, err := coord.New(store, nil)
		if err != nil {
			t.Fatal(err)
		}
		newParticipants("take", "give-back", "take-back").register(t, c1)
		register(t, c1, "give", func(ctx context.Context, _ txn.Call) ([]byte, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		if err := c1.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		d := transfer()
		d.Branches[1].Policy = &txn.Policy{Attempts: 1}
		id, err := c1.Submit(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := c1.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		c2 := start(t, store, nil, transferParts())
		if res, err := c2.Wait(t.Context(), id); err != nil {
			t.Errorf("%+v %v", res, err)
		}
	})
}

func TestCallsToATargetAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), &coord.Options{PerTarget: 3},
			newParticipants("give-back", "give", "take-back"))
		var under, most atomic.Int32
		register(t, c, "take", func(context.Context, txn.Call) ([]byte, error) {
			if n := under.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(time.Second)
			under.Add(-1)
			return nil, nil
		})
		var ids []string
		for range 12 {
			id, err := c.Submit(t.Context(), transfer())
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		for _, id := range ids {
			if res, err := c.Wait(t.Context(), id); err != nil {
				t.Fatalf("%+v %v", res, err)
			}
		}
		if most.Load() != 3 {
			t.Errorf("%d calls at once, want 3", most.Load())
		}
	})
}
