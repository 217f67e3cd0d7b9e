//go:build !race

// What is shown here takes hours of virtual time, or thousands of transactions: the race detector makes that some ten
// times as slow, and what runs is raced by all other tests.

package coord_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// TestADayOfTriesCanBeRead: two branches of a transaction fail for a day, in turns, on
// two coordinators. What it says of that fits on a screen, and nothing is left out.
func TestADayOfTriesCanBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := newParticipants("left", "right", "undo")
		parts.answer("left", errBroken)
		parts.answer("right", errBroken)
		store := memstore.New(nil)
		c := start(t, store, &coord.Options{Replica: "one"}, parts)
		start(t, store, &coord.Options{Replica: "two"}, parts)
		id := submit(t, c, txn.Definition{Mode: "saga", Branches: []txn.Branch{
			{ID: "a", Do: "left", Undo: "undo"}, {ID: "b", Do: "right", Undo: "undo"},
		}})
		began := time.Now()
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		tx := get(t, c, id)
		if len(tx.Attempts) != 2 || tx.Dropped != 0 || noted(tx) != parts.count() || parts.count() < 2000 {
			t.Errorf("%d entries, %d dropped, %d calls noted of %d",
				len(tx.Attempts), tx.Dropped, noted(tx), parts.count())
		}
		for _, a := range tx.Attempts {
			if a.Number != 1 || a.At.Sub(began) > time.Second || a.Last().Sub(began) < 23*time.Hour+50*time.Minute {
				t.Errorf("%s: number %d, at %s, last at %s", a.Branch, a.Number, a.At.Sub(began), a.Last().Sub(began))
			}
		}
		if rec, err := store.Load(t.Context(), id); err != nil || len(rec.State) > 1024 {
			t.Errorf("%d bytes of state, %v", len(rec.State), err)
		}
	})
}

func TestOutageIsDrainedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, newParticipants("give", "give-back", "take-back"))
		var up atomic.Bool
		var calls atomic.Int32
		if err := c.Register("take", func(ctx context.Context, _ txn.Call) ([]byte, error) {
			if up.Load() {
				return nil, nil
			}
			calls.Add(1)
			<-ctx.Done()
			return nil, ctx.Err()
		}); err != nil {
			t.Fatal(err)
		}
		d := transfer()
		d.Branches[0].Policy = &txn.Policy{Timeout: 100 * time.Millisecond}
		var ids []string
		for range 1000 {
			id, err := c.Submit(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		time.Sleep(10 * time.Minute)
		if n := calls.Load(); n > 2000 {
			t.Errorf("%d calls to a target that is down for 10 minutes", n)
		}
		up.Store(true)
		drain(t, c, ids)
	})
}

// TestFailingTargetIsDrainedWhenItRecovers: a participant that answered every call
// with an error, as a function does whose database is away, is not waited for until
// everybody's pause is over.
func TestFailingTargetIsDrainedWhenItRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := transferParts()
		parts.answer("take", errBroken)
		c := start(t, memstore.New(nil), nil, parts)
		var ids []string
		for range 1000 {
			id, err := c.Submit(t.Context(), transfer())
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		time.Sleep(10 * time.Minute)
		parts.answer("take", nil)
		drain(t, c, ids)
	})
}

// drain checks that transactions end soon, now that nothing keeps them.
func drain(t *testing.T, c *coord.Coordinator, ids []string) {
	t.Helper()
	began := time.Now()
	for _, id := range ids {
		if res, err := c.Wait(t.Context(), id); err != nil {
			t.Fatalf("%+v %v", res, err)
		}
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("drained after %v", took)
	}
}

// TestDeadTargetsAreForgotten when nothing waits for them any more: their paths contain
// IDs, so they are many. Until then they hold up nobody else.
func TestDeadTargetsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, events := &claims{Store: memstore.New(nil), takes: 3 * time.Millisecond}, &counter{}
		opts := &coord.Options{Callers: []txn.Caller{dead{}}, Observer: events}
		c := start(t, store, opts, newParticipants("mail"))
		const targets = 3000
		for i := range targets {
			submit(t, c, txn.Definition{Mode: "saga", Branches: []txn.Branch{{
				ID: "a", Do: txn.Target(fmt.Sprintf("http://dead/orders/%d", i)),
				Policy: &txn.Policy{Attempts: 5, Backoff: time.Millisecond},
			}}})
		}
		time.Sleep(2 * time.Second)
		began := time.Now()
		id := submit(t, c, txn.Definition{
			Mode: "msg", Delay: 2 * time.Second, Branches: []txn.Branch{{ID: "a", Confirm: "mail"}},
		})
		if _, err := c.Wait(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("a message delayed by 2 s arrived after %v", took)
		}
		time.Sleep(10 * time.Minute)
		if opened, closed := events.count(coord.EventBreakerOpened),
			events.count(coord.EventBreakerClosed); opened != targets || closed != targets {
			t.Errorf("taken for down: %d, for done with: %d, of %d", opened, closed, targets)
		}
		store.byTarget.Store(0)
		time.Sleep(time.Minute)
		if n := store.byTarget.Load(); n != 0 {
			t.Errorf("%d probes in a minute for targets that nothing waits for", n)
		}
	})
}

// gauge counts breakers as coordprom does.
type gauge struct{ open atomic.Int64 }

func (g *gauge) Observe(_ context.Context, e coord.Event) {
	if e.Kind == coord.EventBreakerOpened {
		g.open.Add(1)
	}
	if e.Kind == coord.EventBreakerClosed {
		g.open.Add(-1)
	}
}

// TestATargetIsDownForEver: one observer serves all coordinators of a registry. One that stops
// while a target is down leaves it down in bedrock_txn_breaker_open for the life of the process.
func TestATargetIsDownForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, store := &gauge{}, memstore.New(nil)
		var well atomic.Bool
		take := func(ctx context.Context, _ txn.Call) ([]byte, error) {
			if well.Load() {
				return nil, nil
			}
			<-ctx.Done() // no answer in time: nobody is there
			return nil, errors.New("late")
		}
		first := start(t, store, &coord.Options{Observer: g}, nil)
		register(t, first, "take", take)
		for range 10 {
			d := txn.Definition{Mode: "saga", Branches: []txn.Branch{{ID: "a", Do: "take"}}}
			_, err := first.Submit(t.Context(), d)
			must(t, err)
		}
		time.Sleep(time.Minute)
		if g.open.Load() != 1 {
			t.Fatalf("%d breakers are open", g.open.Load())
		}
		must(t, first.Stop(t.Context()))
		well.Store(true)
		second := start(t, store, &coord.Options{Observer: g}, nil)
		register(t, second, "take", take)
		time.Sleep(24 * time.Hour)
		if n := g.open.Load(); n != 0 {
			t.Errorf("all is well for a day, and %d targets are said to be down", n)
		}
	})
}
