package coord_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// hang is a participant that ends with its context.
func hang(ctx context.Context, _ txn.Call) ([]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// crashInGive runs a transfer until its second step, a while after the first, and
// cuts its coordinator off there.
func crashInGive(t *testing.T, store driver.Store, d txn.Definition) (id string) {
	t.Helper()
	dying := bedrocktest.NewStore(store)
	c := start(t, dying, nil, newParticipants("give-back", "take-back"))
	register(t, c, "take", func(context.Context, txn.Call) ([]byte, error) {
		time.Sleep(300 * time.Millisecond)
		return nil, nil
	})
	register(t, c, "give", hang)
	id, err := c.Submit(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	die(dying)
	return id
}

// TestACrashRepeatsNoOldStep: progress is written before a call that may take long.
func TestACrashRepeatsNoOldStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, parts := memstore.New(nil), transferParts()
		id := crashInGive(t, store, transfer())
		c := start(t, store, nil, parts)
		if res, err := c.Wait(t.Context(), id); err != nil {
			t.Fatalf("%+v %v", res, err)
		}
		if made := strings.Join(parts.made(), ", "); made != "give action" {
			t.Errorf("made %s", made)
		}
	})
}

// TestATakeoverUndoesWhatIsInDoubt: the crashed owner has written that it took, but
// not that it was about to give.
func TestATakeoverUndoesWhatIsInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, parts := memstore.New(nil), transferParts()
		d := transfer()
		d.Timeout = 3 * time.Second // over when the lease is
		id := crashInGive(t, store, d)
		c := start(t, store, nil, parts)
		if res, _ := c.Wait(t.Context(), id); res.Outcome != txn.RolledBack {
			t.Fatalf("%+v", res)
		}
		if made := strings.Join(parts.made(), ", "); made != "give compensate, take compensate" {
			t.Errorf("made %s", made)
		}
	})
}

func TestTheDeadlineBreaksCallsOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, newParticipants("take", "give-back", "take-back"))
		register(t, c, "give", hang)
		d := transfer()
		d.Timeout, d.Branches[1].Policy = 5*time.Second, &txn.Policy{Timeout: time.Minute}
		began := time.Now()
		if res, _ := c.Run(t.Context(), d); res.Outcome != txn.RolledBack {
			t.Fatalf("%+v", res)
		}
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("rolled back after %v", took)
		}
	})
}

// TestAFunctionThatDoesNotEnd ignores its context; nobody waits for it for ever.
func TestAFunctionThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, newParticipants("take", "give-back", "take-back"))
		block := make(chan struct{})
		register(t, c, "give", func(context.Context, txn.Call) ([]byte, error) { <-block; return nil, nil })
		d := transfer()
		d.Branches[1].Policy = &txn.Policy{Timeout: time.Second, Attempts: 2}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		res, err := c.Run(ctx, d)
		if res.Outcome != txn.RolledBack || !strings.Contains(res.Reason, "no answer and no end after 1s") {
			t.Errorf("%+v %v", res, err)
		}
		close(block)
	})
}

// TestWaitingTakesNoRoom: what has to wait is in the store, and others have its
// place.
func TestWaitingTakesNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := newParticipants("take", "give", "give-back", "take-back", "slow")
		parts.answer("slow", txn.Pending(time.Hour))
		c := start(t, memstore.New(nil), &coord.Options{Active: 1}, parts)
		waiting := transfer()
		waiting.Branches[0].Do = "slow"
		if _, err := c.Submit(t.Context(), waiting); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if res, err := c.Run(ctx, transfer()); err != nil {
			t.Errorf("another one: %+v %v", res, err)
		}
	})
}

// TestWhoFindsNoRoomIsNext: it does not sit out the lease of a coordinator that has
// never driven it.
func TestWhoFindsNoRoomIsNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), &coord.Options{Active: 1}, newParticipants("give", "give-back", "take-back"))
		register(t, c, "take", func(context.Context, txn.Call) ([]byte, error) {
			time.Sleep(2 * time.Second)
			return nil, nil
		})
		if _, err := c.Submit(t.Context(), transfer()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if res, err := c.Run(t.Context(), transfer()); err != nil {
			t.Fatalf("%+v %v", res, err)
		}
		if took := time.Since(began); took < 4*time.Second || took > 4500*time.Millisecond {
			t.Errorf("two of 2 s each, one after the other, took %v", took)
		}
	})
}

func TestALostCreateIsFoundOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := transferParts()
		store := bedrocktest.NewStore(memstore.New(nil))
		store.LoseReply(bedrocktest.Create)
		c := start(t, store, nil, parts)
		began := time.Now()
		if res, err := c.Run(t.Context(), transfer()); err != nil {
			t.Fatalf("%+v %v", res, err)
		}
		if took := time.Since(began); took > time.Second || parts.count() != 2 {
			t.Errorf("%d calls in %v", parts.count(), took)
		}
	})
}

// TestADamagedRecordIsParked: it would be claimed over and over. One of a mode that
// is not known here is left to those that know it.
func TestADamagedRecordIsParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(nil)
		now := time.Now()
		for id, rec := range map[string]driver.Record{
			"damaged": {Mode: "saga", Spec: []byte("{"), State: []byte("{}")},
			"strange": {Mode: "xa", Spec: []byte("{}"), State: []byte("{}")},
		} {
			rec.ID, rec.Status, rec.Epoch, rec.Due, rec.Created = id, driver.Running, 1, now, now
			if err := store.Create(t.Context(), &rec); err != nil {
				t.Fatal(err)
			}
		}
		start(t, store, nil, nil)
		time.Sleep(time.Minute)
		damaged, err := store.Load(t.Context(), "damaged")
		if err != nil || !strings.HasPrefix(damaged.Parked, "cannot be read: ") || damaged.Epoch != 2 {
			t.Errorf("%+v %v", damaged, err)
		}
		strange, err := store.Load(t.Context(), "strange")
		if err != nil || strange.Parked != "" || strange.Epoch > 5 {
			t.Errorf("%+v %v", strange, err)
		}
	})
}

// TestADamagedRecordEndsNobody: one that is JSON and contradicts itself ended the process of whoever
// claimed it or asked for it, and after a restart the next.
func TestADamagedRecordEndsNobody(t *testing.T) {
	for name, rec := range map[string]driver.Record{
		"more progress than branches": {
			Spec:  []byte(`{"mode":"saga","branches":[{"id":"a","do":"take"}]}`),
			State: []byte(`{"progress":[{"do":{"s":"done","r":"e30="}},{"do":{"r":"e30="}}]}`),
		},
		"a branch that waits for itself": {
			Spec:  []byte(`{"mode":"saga","branches":[{"id":"a","do":"take","after":["a"]}]}`),
			State: []byte(`{"complete":true,"epoch":1}`),
		},
		"a mode that is not there": {
			Spec:  []byte(`{"mode":"sagx","branches":[{"id":"a","do":"take"}]}`),
			State: []byte(`{"complete":true,"epoch":1}`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memstore.New(nil)
				rec.ID, rec.Mode, rec.Status, rec.Epoch = "damaged", "saga", txn.Running, 1
				rec.Due, rec.Created = time.Now(), time.Now()
				must(t, store.Create(t.Context(), &rec))
				c := start(t, store, nil, transferParts())
				time.Sleep(time.Minute)
				parked, err := store.Load(t.Context(), "damaged")
				if err != nil || !strings.HasPrefix(parked.Parked, "cannot be read: ") {
					t.Errorf("%+v %v", parked, err)
				}
				if tx, err := c.Get(t.Context(), "damaged"); err == nil {
					t.Errorf("%+v", tx)
				}
			})
		})
	}
}
