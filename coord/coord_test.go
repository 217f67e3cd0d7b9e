package coord_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

func TestSagaCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := transferParts()
		c := start(t, memstore.New(nil), nil, parts)
		d := transfer()
		d.Branches[1].Use = map[string]string{"taken": "take.by"}
		res, err := c.Run(t.Context(), d)
		if err != nil || res.Outcome != txn.Committed {
			t.Fatalf("%+v %v", res, err)
		}
		if diff := cmp.Diff([]string{"take action", "give action"}, parts.made()); diff != "" {
			t.Error(diff)
		}
		if got, want := string(parts.calls[1].Payload), `{"amount":30,"taken":"take"}`; got != want {
			t.Errorf("payload of the second step: %s, want %s", got, want)
		}
		if got := string(res.Returned["give"]); got != `{"by":"give"}` {
			t.Errorf("returned %q", got)
		}
	})
}

func TestSagaRollsBackInReverse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := transferParts()
		parts.answer("give", errNoMoney)
		parts.answer("give-back", errBroken, errBroken, nil)
		c := start(t, memstore.New(nil), nil, parts)
		res, err := c.Run(t.Context(), transfer())
		rolledBack, ok := errors.AsType[*txn.RolledBackError](err)
		if !ok || res.Outcome != txn.RolledBack || rolledBack.Reason != "give was refused: no money" {
			t.Fatalf("%+v %v", res, err)
		}
		want := []string{"take action", "give action", "take compensate", "take compensate", "take compensate"}
		if diff := cmp.Diff(want, parts.made()); diff != "" {
			t.Error(diff)
		}
		if tx := get(t, c, res.ID); noted(tx) != 5 || tx.Attempts[1].Answer != "refused" {
			t.Errorf("attempts: %+v", tx.Attempts)
		}
	})
}

func TestSubmitIsIdempotent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := transferParts()
		c := start(t, memstore.New(nil), nil, parts)
		d := transfer()
		d.ID = "order-42"
		for range 3 {
			if res, err := c.Run(t.Context(), d); err != nil || res.Outcome != txn.Committed {
				t.Fatalf("%+v %v", res, err)
			}
		}
		if n := parts.count(); n != 2 {
			t.Errorf("%d calls for one transaction submitted three times", n)
		}
		d.Payload = []byte(`{"amount":31}`)
		if _, err := c.Submit(t.Context(), d); !errors.Is(err, txn.ErrExists) {
			t.Errorf("other content under the same ID: %v", err)
		}
	})
}

func TestSubmittedTwiceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := transferParts()
		c := start(t, memstore.New(nil), nil, parts)
		d := transfer()
		d.ID = "order-42"
		results := make(chan error, 8)
		for range cap(results) {
			go func() {
				_, err := c.Run(t.Context(), d)
				results <- err
			}()
		}
		for range cap(results) {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		if n := parts.count(); n != 2 {
			t.Errorf("%d calls", n)
		}
	})
}

func TestTimeoutRollsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := transferParts()
		parts.answer("give", errBroken)
		c := start(t, memstore.New(nil), nil, parts)
		d := transfer()
		d.Timeout = 10 * time.Second
		began := time.Now()
		res, err := c.Run(t.Context(), d)
		if res.Outcome != txn.RolledBack || res.Reason != "not done in time" {
			t.Fatalf("%+v %v", res, err)
		}
		if took := time.Since(began); took < 10*time.Second || took > 12*time.Second {
			t.Errorf("rolled back after %v", took)
		}
		// The outcome of give is unknown, so it is undone as well.
		made := parts.made()
		if diff := cmp.Diff([]string{"give compensate", "take compensate"}, made[len(made)-2:]); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAttemptsUsedUp(t *testing.T) {
	for _, then := range []txn.Fallback{txn.Compensate, txn.Park, txn.Hook} {
		t.Run(string(then), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parts := newParticipants("take", "give-back", "give", "take-back", "hook")
				parts.answer("give", errBroken)
				c := start(t, memstore.New(nil), nil, parts)
				d := transfer()
				d.Branches[1].Policy = &txn.Policy{Attempts: 3, Then: then}
				if then == txn.Hook {
					d.Branches[1].Policy.Hook = "hook"
				}
				res, err := c.Run(t.Context(), d)
				want := map[txn.Fallback]txn.Outcome{
					txn.Compensate: txn.RolledBack, txn.Park: txn.InDoubt, txn.Hook: txn.Committed,
				}
				if res.Outcome != want[then] {
					t.Fatalf("%+v %v", res, err)
				}
				if _, parked := errors.AsType[*txn.ParkedError](err); parked != (then == txn.Park) {
					t.Errorf("error %v", err)
				}
				if n := len(slices.DeleteFunc(parts.made(),
					func(s string) bool { return s != "give action" })); n != 3 {
					t.Errorf("%d attempts", n)
				}
				if asked := slices.Contains(parts.made(), "give hook:action"); asked != (then == txn.Hook) {
					t.Errorf("hook asked: %v", asked)
				}
			})
		})
	}
}

func TestParkedIsResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := transferParts()
		parts.answer("give", errNoMoney)
		parts.answer("give-back", errBroken)
		c := start(t, memstore.New(nil), nil, parts)
		d := transfer()
		d.Branches[0].Policy = &txn.Policy{Attempts: 2}
		res, err := c.Run(t.Context(), d)
		if _, ok := errors.AsType[*txn.ParkedError](err); !ok {
			t.Fatalf("%+v %v", res, err)
		}
		parts.answer("give-back", nil)
		ctx := txn.ContextWithActor(t.Context(), "ann")
		if err := c.Act(ctx, res.ID, txn.ActCompensate, "?"); !errors.Is(err, txn.ErrAction) {
			t.Errorf("compensate what is rolling back: %v", err)
		}
		if err := c.Act(ctx, res.ID, txn.ActResume, "repaired"); err != nil {
			t.Fatal(err)
		}
		if res, _ = c.Wait(t.Context(), res.ID); res.Outcome != txn.RolledBack {
			t.Fatalf("%+v", res)
		}
		tx := get(t, c, res.ID)
		if !slices.ContainsFunc(tx.Attempts, func(a txn.Attempt) bool {
			return a.Op == "operator" && a.Answer == "resume" && a.By == "ann" && a.Excerpt == "repaired"
		}) {
			t.Errorf("the intervention is not recorded: %+v", tx.Attempts)
		}
		if err := c.Act(ctx, res.ID, txn.ActRemove, "old"); err != nil {
			t.Error(err)
		}
		if _, err := c.Get(ctx, res.ID); !errors.Is(err, txn.ErrNotFound) {
			t.Errorf("removed: %v", err)
		}
	})
}

func TestTCCBegunAndCommitted(t *testing.T) {
	for _, commit := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			parts := newParticipants("confirm", "cancel")
			c := start(t, memstore.New(nil), nil, parts)
			id, err := c.Begin(t.Context(), txn.Definition{Mode: "tcc", Name: "booking"})
			if err != nil {
				t.Fatal(err)
			}
			branch := txn.Branch{ID: "hotel", Confirm: "confirm", Undo: "cancel"}
			for range 2 {
				if err := c.Enlist(t.Context(), id, branch); err != nil {
					t.Fatal(err)
				}
			}
			decide, want := c.Commit, "hotel confirm"
			if !commit {
				decide, want = func(ctx context.Context, id string) error { return c.RollBack(ctx, id, "no") },
					"hotel cancel"
			}
			if err := decide(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			if err := c.Enlist(t.Context(), id,
				txn.Branch{ID: "late", Confirm: "confirm"}); !errors.Is(err, txn.ErrDecided) {
				t.Errorf("late branch: %v", err)
			}
			c.Wait(t.Context(), id)
			if diff := cmp.Diff([]string{want}, parts.made()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBegunTCCHasNoTriesOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, newParticipants("try"))
		_, err := c.Begin(t.Context(), txn.Definition{
			Mode: "tcc", Branches: []txn.Branch{{ID: "a", Do: "try", Confirm: "try"}},
		})
		if field, ok := errors.AsType[*txn.InvalidError](err); !ok || field.Field != "branches[0].do" {
			t.Errorf("a try that nobody would call was accepted: %v", err)
		}
	})
}

func TestTCCExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := newParticipants("confirm", "cancel")
		c := start(t, memstore.New(nil), nil, parts)
		id, err := c.Begin(t.Context(), txn.Definition{
			Mode: "tcc", Timeout: 5 * time.Second,
			Branches: []txn.Branch{{ID: "hotel", Confirm: "confirm", Undo: "cancel"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if res, _ := c.Wait(t.Context(), id); res.Outcome != txn.RolledBack {
			t.Fatalf("%+v", res)
		}
		if took := time.Since(began); took > 7*time.Second {
			t.Errorf("expired after %v", took)
		}
		if err := c.Commit(t.Context(), id); !errors.Is(err, txn.ErrDecided) {
			t.Errorf("commit too late: %v", err)
		}
	})
}

func TestMessageCheckBack(t *testing.T) {
	for name, answer := range map[string]error{"committed": nil, "rolled back": errNoMoney} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parts := newParticipants("check", "receive")
				parts.answer("check", errBroken, txn.Pending(time.Second), answer)
				c := start(t, memstore.New(nil), nil, parts)
				id, err := c.Begin(t.Context(), txn.Definition{
					Mode: "msg", Check: &txn.Check{Target: "check"},
					Branches: []txn.Branch{{ID: "r", Confirm: "receive"}},
				})
				if err != nil {
					t.Fatal(err)
				}
				res, _ := c.Wait(t.Context(), id)
				if want := answer == nil; (res.Outcome == txn.Committed) != want {
					t.Fatalf("%+v", res)
				}
				want := []string{" check", " check", " check"}
				if answer == nil {
					want = append(want, "r deliver")
				}
				if diff := cmp.Diff(want, parts.made()); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestMessageDelayAndTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := newParticipants("one", "two")
		c := start(t, memstore.New(nil), nil, parts)
		publish := txn.Definition{
			Mode: "msg", Delay: time.Minute, Branches: []txn.Branch{{ID: "r", Confirm: "topic:orders"}},
		}
		if _, err := c.Submit(t.Context(), publish); err == nil {
			t.Error("a message to nobody was accepted")
		}
		for _, s := range []txn.Target{"one", "two", "one"} {
			if err := c.Subscribe(t.Context(), "orders", s); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		if res, err := c.Run(t.Context(), publish); err != nil {
			t.Fatalf("%+v %v", res, err)
		}
		if took := time.Since(began); took < time.Minute || took > 62*time.Second {
			t.Errorf("delivered after %v", took)
		}
		if made := parts.made(); len(made) != 2 {
			t.Errorf("calls %v", made)
		}
		if page, err := c.List(t.Context(), txn.Query{}); err != nil || len(page.Transactions) != 1 {
			t.Errorf("list shows %d transactions, %v", len(page.Transactions), err)
		}
	})
}

func TestAsyncBranchBecomesAMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := newParticipants("try", "confirm", "points")
		parts.answer("points", errBroken, errBroken, nil)
		c := start(t, memstore.New(nil), nil, parts)
		res, err := c.Run(t.Context(), txn.Definition{Mode: "tcc", Branches: []txn.Branch{
			{ID: "hotel", Do: "try", Confirm: "confirm"}, {ID: "points", Confirm: "async:points"},
		}})
		if err != nil {
			t.Fatalf("%+v %v", res, err)
		}
		time.Sleep(10 * time.Second)
		if n := len(slices.DeleteFunc(parts.made(), func(s string) bool { return s != "points deliver" })); n != 3 {
			t.Errorf("delivered in %d calls", n)
		}
	})
}

func TestWatchSeesTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := transferParts()
		parts.answer("give", errBroken, errBroken, errBroken, nil)
		c := start(t, memstore.New(nil), nil, parts)
		id, err := c.Submit(t.Context(), transfer())
		if err != nil {
			t.Fatal(err)
		}
		var seen []txn.Status
		for tx, err := range c.Watch(t.Context(), id) {
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, tx.Status)
		}
		if seen[0] != txn.Running || seen[len(seen)-1] != txn.Committed {
			t.Errorf("seen %v", seen)
		}
	})
}

func TestRetentionArchivesAndRemoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var archived atomic.Int32
		c := start(t, memstore.New(nil), &coord.Options{Retention: coord.Retention{
			Keep: time.Hour,
			Archive: func(_ context.Context, batch []*txn.Transaction) error {
				archived.Add(int32(len(batch)))
				return nil
			},
		}}, transferParts())
		for range 1200 {
			if _, err := c.Run(t.Context(), transfer()); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(50 * time.Minute)
		if n := archived.Load(); n != 0 {
			t.Errorf("%d archived too early", n)
		}
		time.Sleep(15 * time.Minute)
		page, err := c.List(t.Context(), txn.Query{})
		if err != nil || len(page.Transactions) != 0 || archived.Load() != 1200 {
			t.Errorf("%d left, %d archived, %v", len(page.Transactions), archived.Load(), err)
		}
	})
}

// TestADamagedRecordStopsRetention: it could not be archived, and nothing with it.
func TestADamagedRecordStopsRetention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var archived atomic.Int32
		store := memstore.New(nil)
		c := start(t, store, &coord.Options{Retention: coord.Retention{
			Keep: time.Hour,
			Archive: func(_ context.Context, batch []*txn.Transaction) error {
				archived.Add(int32(len(batch)))
				return nil
			},
		}}, transferParts())
		_, err := c.Run(t.Context(), transfer())
		must(t, err)
		now := time.Now()
		must(t, store.Create(t.Context(), &driver.Record{
			ID: "damaged", Mode: "saga", Status: txn.Committed, Created: now, Updated: now, Finished: now,
			Spec: []byte("{"), State: []byte("{}"),
		}))
		time.Sleep(2 * time.Hour)
		if page, err := c.List(t.Context(), txn.Query{}); err != nil || len(page.Transactions) != 0 ||
			archived.Load() != 2 {
			t.Errorf("%d left, %d archived, %v", len(page.Transactions), archived.Load(), err)
		}
	})
}
