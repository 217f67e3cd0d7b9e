package coord_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// TestTheEndOfAnOutageIsNoticed: by itself none of the transactions would come up
// before half a minute is over.
func TestTheEndOfAnOutageIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := &counter{}
		c := start(t, memstore.New(nil), &coord.Options{Observer: events},
			newParticipants("give", "give-back", "take-back"))
		var up atomic.Bool
		register(t, c, "take", func(ctx context.Context, call txn.Call) ([]byte, error) {
			if up.Load() {
				return nil, nil
			}
			return hang(ctx, call)
		})
		d := transfer()
		d.Branches[0].Policy = &txn.Policy{Timeout: 100 * time.Millisecond}
		var ids []string
		for range 10 {
			id, err := c.Submit(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		time.Sleep(10 * time.Second)
		if n := events.count(coord.EventBreakerOpened); n != 1 {
			t.Errorf("taken for down %d times", n)
		}
		if n := events.count(coord.EventCalled); n > 40 {
			t.Errorf("%d calls to a target that is down for 10 s", n)
		}
		up.Store(true)
		began := time.Now()
		for _, id := range ids {
			if res, err := c.Wait(t.Context(), id); err != nil {
				t.Fatalf("%+v %v", res, err)
			}
		}
		if took := time.Since(began); took > 2500*time.Millisecond {
			t.Errorf("all done %v after its end", took)
		}
		if n := events.count(coord.EventBreakerClosed); n != 1 {
			t.Errorf("taken for up %d times", n)
		}
	})
}
