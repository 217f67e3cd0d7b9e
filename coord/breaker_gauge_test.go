package coord_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

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
