package coord_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// watching follows a transaction with many watchers that change what they are given.
func watching(
	ctx context.Context, t *testing.T, c *coord.Coordinator, id string, watchers int,
) (seen [][]txn.Status, done func()) {
	t.Helper()
	seen = make([][]txn.Status, watchers)
	var all sync.WaitGroup
	for i := range watchers {
		all.Go(func() {
			for tx, err := range c.Watch(ctx, id) {
				if err != nil {
					return
				}
				if len(tx.Branches) != 2 || string(tx.Payload) != `{"amount":30}` {
					t.Errorf("%d branches, payload %q: somebody else has changed them", len(tx.Branches), tx.Payload)
				}
				tx.Payload[0], tx.Branches[0].ID = 'x', "changed"
				seen[i] = append(seen[i], tx.Status)
			}
		})
	}
	synctest.Wait()
	return seen, all.Wait
}

func openTransfer() txn.Definition {
	return txn.Definition{
		Mode: "tcc", Payload: []byte(`{"amount":30}`), Timeout: 24 * time.Hour,
		Branches: []txn.Branch{
			{ID: "a", Confirm: "take", Undo: "give-back"}, {ID: "b", Confirm: "give", Undo: "take-back"},
		},
	}
}

// TestEveryWatcherReadsTheStore, whether anything has changed or not.
func TestEveryWatcherReadsTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const watchers = 100
		store := bedrocktest.NewStore(memstore.New(nil))
		c := start(t, store, nil, transferParts())
		id, err := c.Begin(t.Context(), openTransfer())
		must(t, err)
		seen, done := watching(t.Context(), t, c, id, watchers)
		time.Sleep(time.Minute)
		if n := store.Calls(bedrocktest.Load); n > watchers+50 {
			t.Errorf("%d watchers have read %d times in an idle minute", watchers, n)
		}
		before := store.Calls(bedrocktest.Load)
		must(t, c.Commit(t.Context(), id))
		done()
		if n := store.Calls(bedrocktest.Load) - before; n > 10 {
			t.Errorf("%d reads for the two changes of a commit", n)
		}
		for i, all := range seen {
			if all[0] != txn.Open || all[len(all)-1] != txn.Committed {
				t.Errorf("watcher %d has seen %v", i, all)
			}
		}
	})
}

// TestAChangeByAnotherReplicaIsNotSeen, because nothing tells of it here.
func TestAChangeByAnotherReplicaIsNotSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(nil)
		here, there := start(t, store, nil, transferParts()), start(t, store, nil, transferParts())
		id, err := there.Begin(t.Context(), openTransfer())
		must(t, err)
		seen, done := watching(t.Context(), t, here, id, 3)
		time.Sleep(time.Hour)
		must(t, there.RollBack(t.Context(), id, "test"))
		began := time.Now()
		done()
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("seen after %v", took)
		}
		if last := seen[0][len(seen[0])-1]; last != txn.RolledBack {
			t.Errorf("last seen %s", last)
		}
	})
}

// TestASlowWatcherIsShownWhatIsOver: it goes on with the newest, and holds up nobody.
func TestASlowWatcherIsShownWhatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, transferParts())
		id, err := c.Begin(t.Context(), openTransfer())
		must(t, err)
		_, done := watching(t.Context(), t, c, id, 1)
		var seen []txn.Status
		for tx, err := range c.Watch(t.Context(), id) {
			must(t, err)
			if seen = append(seen, tx.Status); len(seen) == 1 {
				must(t, c.Commit(t.Context(), id))
				done()
			}
		}
		if !slices.Equal(seen, []txn.Status{txn.Open, txn.Committed}) {
			t.Errorf("seen %v", seen)
		}
	})
}

// mute is a store that does not answer reads for a while.
type mute struct {
	driver.Store
	silent atomic.Bool
}

func (m *mute) Load(ctx context.Context, id string) (*driver.Record, error) {
	if m.silent.Load() {
		return nil, errors.New("no answer")
	}
	return m.Store.Load(ctx, id)
}

// TestALookThatFailsWaitsForTheNextWrite: what was written here is looked at again, also
// when the first look finds no store; the next write may be an hour away.
func TestALookThatFailsWaitsForTheNextWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &mute{Store: memstore.New(nil)}
		c := start(t, store, &coord.Options{Lease: 10 * time.Minute}, newParticipants("undo"))
		register(t, c, "first", func(context.Context, txn.Call) ([]byte, error) {
			time.Sleep(time.Second)
			store.silent.Store(true)
			time.AfterFunc(5*time.Second, func() { store.silent.Store(false) })
			return nil, nil
		})
		register(t, c, "second", hang)
		id := submit(t, c, txn.Definition{Mode: "saga", Branches: []txn.Branch{
			{ID: "a", Do: "first", Undo: "undo"},
			{ID: "b", Do: "second", Undo: "undo", After: []string{"a"}, Policy: &txn.Policy{Timeout: time.Hour}},
		}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for tx, err := range c.Watch(ctx, id) {
			must(t, err)
			if tx.Progress[0].Do.State == txn.Done {
				break
			}
		}
		must(t, c.Act(t.Context(), id, txn.ActCompensate, "enough"))
		_, _ = c.Wait(t.Context(), id)
	})
}
