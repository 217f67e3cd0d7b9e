package coord_test

import (
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

// noted counts the calls and interventions that a transaction tells of.
func noted(tx *txn.Transaction) (n int) {
	for i := range tx.Attempts {
		n += tx.Attempts[i].Times()
	}
	return n
}
