package coord_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// TestInterventions: which of them fit, and what becomes of the transaction.
func TestInterventions(t *testing.T) {
	const no = txn.Status("refused")
	running := func(*testing.T, *coord.Coordinator, *participants, string) {}
	parked := func(t *testing.T, c *coord.Coordinator, _ *participants, id string) {
		if err := c.Act(t.Context(), id, txn.ActPark, "wait"); err != nil {
			t.Fatal(err)
		}
	}
	final := func(t *testing.T, c *coord.Coordinator, parts *participants, id string) {
		parts.answer("give", nil)
		if err := c.Act(t.Context(), id, txn.ActRetry, "it is up"); err != nil {
			t.Fatal(err)
		}
		if res, err := c.Wait(t.Context(), id); err != nil {
			t.Fatalf("%+v %v", res, err)
		}
	}
	for _, state := range []struct {
		name  string
		reach func(*testing.T, *coord.Coordinator, *participants, string)
		want  map[txn.Action]txn.Status
	}{
		{"running", running, map[txn.Action]txn.Status{
			txn.ActRetry: txn.Running, txn.ActPark: txn.Running, txn.ActResume: no,
			txn.ActCompensate: txn.RolledBack, txn.ActAbandon: no, txn.ActRemove: no,
		}},
		{"parked", parked, map[txn.Action]txn.Status{
			txn.ActRetry: no, txn.ActPark: no, txn.ActResume: txn.Running,
			txn.ActCompensate: txn.RolledBack, txn.ActAbandon: txn.InDoubt, txn.ActRemove: no,
		}},
		{"final", final, map[txn.Action]txn.Status{
			txn.ActRetry: no, txn.ActPark: no, txn.ActResume: no, txn.ActCompensate: no, txn.ActAbandon: no,
		}},
	} {
		for action, want := range state.want {
			t.Run(state.name+"/"+string(action), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					parts := transferParts()
					parts.answer("give", errBroken)
					c := start(t, memstore.New(nil), nil, parts)
					d := transfer()
					d.Branches[1].Policy = &txn.Policy{Backoff: time.Hour, MaxBackoff: time.Hour}
					id, err := c.Submit(t.Context(), d)
					if err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					state.reach(t, c, parts, id)
					before := get(t, c, id)
					err = c.Act(t.Context(), id, action, "because")
					time.Sleep(time.Second)
					after := get(t, c, id)
					switch {
					case want == no &&
						(!errors.Is(err, txn.ErrAction) || after.Status != before.Status ||
							after.Parked != before.Parked):
						t.Errorf("%v; %s %q became %s %q",
							err, before.Status, before.Parked, after.Status, after.Parked)
					case want != no &&
						(err != nil || after.Status != want || (after.Parked != "") != (action == txn.ActPark)):
						t.Errorf("%v; it is %s, parked %q; want %s", err, after.Status, after.Parked, want)
					}
				})
			})
		}
	}
}

// TestADecisionLeavesItParked: whoever decides a parked transaction is told nil, and
// nothing follows.
func TestADecisionLeavesItParked(t *testing.T) {
	commit := func(t *testing.T, c *coord.Coordinator, id string) error { return c.Commit(t.Context(), id) }
	rollBack := func(t *testing.T, c *coord.Coordinator, id string) error { return c.RollBack(t.Context(), id, "no") }
	parking := &txn.Policy{Attempts: 1, Then: txn.Park}
	saga := transfer()
	saga.Branches[1].Policy = parking
	prepared := txn.Definition{
		Mode: "msg", Branches: []txn.Branch{{ID: "a", Confirm: "take"}},
		Check: &txn.Check{Target: "give", After: time.Second, Policy: &txn.Policy{Attempts: 1}},
	}
	reserved := txn.Definition{
		Mode: "tcc", Timeout: time.Hour, Branches: []txn.Branch{{ID: "a", Confirm: "take", Undo: "give-back"}},
	}
	for name, test := range map[string]struct {
		definition txn.Definition
		decide     func(*testing.T, *coord.Coordinator, string) error
		want       txn.Status
	}{
		"saga, by its policy":                  {saga, rollBack, txn.RolledBack},
		"message, its producer did not answer": {prepared, commit, txn.Committed},
		"message, and is withdrawn":            {prepared, rollBack, txn.RolledBack},
		"TCC, by hand":                         {reserved, commit, txn.Committed},
		"TCC, by hand, and is canceled":        {reserved, rollBack, txn.RolledBack},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parts := transferParts()
				parts.answer("give", errBroken)
				c := start(t, memstore.New(nil), nil, parts)
				submit := c.Begin
				if test.definition.Mode == "saga" {
					submit = c.Submit
				}
				id, err := submit(t.Context(), test.definition)
				must(t, err)
				time.Sleep(5 * time.Second)
				if test.definition.Mode == "tcc" {
					must(t, c.Act(t.Context(), id, txn.ActPark, "wait"))
				}
				if get(t, c, id).Parked == "" {
					t.Fatal("it is not parked")
				}
				must(t, test.decide(t, c, id))
				time.Sleep(time.Minute)
				if tx := get(t, c, id); tx.Status != test.want || tx.Parked != "" {
					t.Errorf("decided, and a minute later %s, parked %q", tx.Status, tx.Parked)
				}
			})
		})
	}
}

// TestAnInterventionIsRefusedAlthoughMade: its acknowledgement was lost, and the second
// look finds the first one's work in its way.
func TestAnInterventionIsRefusedAlthoughMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := bedrocktest.NewStore(memstore.New(nil))
		c := start(t, store, nil, transferParts())
		id, err := c.Begin(t.Context(), txn.Definition{
			Mode: "tcc", Branches: []txn.Branch{{ID: "a", Confirm: "take", Undo: "give-back"}},
		})
		must(t, err)
		for i, a := range []txn.Action{txn.ActPark, txn.ActResume, txn.ActPark, txn.ActAbandon} {
			store.LoseReply(bedrocktest.Update)
			if err := c.Act(t.Context(), id, a, "test"); err != nil {
				t.Errorf("%s: %v", a, err)
			}
			if n := len(get(t, c, id).Attempts); n != i+1 {
				t.Errorf("%s: %d interventions noted, want %d", a, n, i+1)
			}
		}
		store.LoseReply(bedrocktest.Delete)
		if err := c.Act(t.Context(), id, txn.ActRemove, "test"); err != nil {
			t.Errorf("remove: %v", err)
		}
	})
}

// TestALostChangeWaitsForItsLease: a commit whose acknowledgement was lost is this
// coordinator's to carry out, now.
func TestALostChangeWaitsForItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := bedrocktest.NewStore(memstore.New(nil))
		parts := transferParts()
		c := start(t, store, nil, parts)
		id, err := c.Begin(t.Context(), txn.Definition{
			Mode: "tcc", Branches: []txn.Branch{{ID: "a", Confirm: "take", Undo: "give-back"}},
		})
		must(t, err)
		store.LoseReply(bedrocktest.Update)
		must(t, c.Commit(t.Context(), id))
		time.Sleep(time.Second)
		if tx := get(t, c, id); tx.Status != txn.Committed || parts.count() != 1 {
			t.Errorf("a second later it is %s; calls %v", tx.Status, parts.made())
		}
	})
}

// TestAChangeThatMayHaveBeenMadeIsToldAsRefused: the acknowledgement was lost, and
// somebody else has written on top of it.
func TestAChangeThatMayHaveBeenMadeIsToldAsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := memstore.New(nil)
		store := bedrocktest.NewStore(mem)
		c, other := start(t, store, nil, transferParts()), start(t, mem, nil, transferParts())
		id, err := c.Begin(t.Context(), txn.Definition{
			Mode: "tcc", Branches: []txn.Branch{{ID: "a", Confirm: "take", Undo: "give-back"}},
		})
		must(t, err)
		store.Fail(bedrocktest.Update, bedrocktest.Fault{After: bedrocktest.ErrReplyLost, Hit: func() {
			must(t, other.Act(t.Context(), id, txn.ActAbandon, "another person"))
		}})
		if err := c.Act(t.Context(), id, txn.ActPark, "one person"); !isInDoubt(err) {
			t.Errorf("it was parked, and then abandoned, and is told: %v", err)
		}
	})
}

// TestADecisionThatMayStandIsToldAsFailed: its acknowledgement was lost, and then the
// store is not there to be asked.
func TestADecisionThatMayStandIsToldAsFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := bedrocktest.NewStore(memstore.New(nil))
		c := start(t, store, nil, transferParts())
		id, err := c.Begin(t.Context(), txn.Definition{
			Mode: "tcc", Branches: []txn.Branch{{ID: "a", Confirm: "take", Undo: "give-back"}},
		})
		must(t, err)
		store.Fail(bedrocktest.Update, bedrocktest.Fault{After: bedrocktest.ErrReplyLost, Hit: func() { die(store) }})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.Commit(ctx, id); !isInDoubt(err) {
			t.Errorf("committed, and told %v", err)
		}
		store.Up()
	})
}

// TestAForwardSagaIsRolledBack by hand, although it is never to be.
func TestAForwardSagaIsRolledBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := transferParts()
		parts.answer("give", errBroken)
		c := start(t, memstore.New(nil), nil, parts)
		d := transfer()
		d.Recovery = txn.Forward
		id, err := c.Submit(t.Context(), d)
		must(t, err)
		time.Sleep(time.Second)
		if err := c.RollBack(t.Context(), id, "no"); !errors.Is(err, txn.ErrDecided) {
			t.Errorf("roll back: %v", err)
		}
		if err := c.Act(t.Context(), id, txn.ActCompensate, "no"); !errors.Is(err, txn.ErrAction) {
			t.Errorf("compensate: %v", err)
		}
		parts.answer("give", nil)
		if res, err := c.Wait(t.Context(), id); err != nil {
			t.Errorf("%+v %v; calls %v", res, err, parts.made())
		}
	})
}

// TestParkedIsLeftAlone, at its deadline, too.
func TestParkedIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := transferParts()
		c := start(t, memstore.New(nil), nil, parts)
		id, err := c.Begin(t.Context(), txn.Definition{
			Mode: "tcc", Branches: []txn.Branch{{ID: "a", Confirm: "take", Undo: "give-back"}},
		})
		must(t, err)
		must(t, c.Act(t.Context(), id, txn.ActPark, "wait"))
		time.Sleep(time.Hour)
		if tx := get(t, c, id); tx.Status != txn.Open || tx.Parked == "" || parts.count() > 0 {
			t.Errorf("%s, parked %q, calls %v", tx.Status, tx.Parked, parts.made())
		}
	})
}

// TestRetryDoesNotWait: the next attempt was an hour away.
func TestRetryDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := transferParts()
		parts.answer("give", errBroken, nil)
		c := start(t, memstore.New(nil), nil, parts)
		d := transfer()
		d.Branches[1].Policy = &txn.Policy{Backoff: time.Hour, MaxBackoff: time.Hour}
		id, err := c.Submit(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		began := time.Now()
		if err := c.Act(t.Context(), id, txn.ActRetry, "it is up"); err != nil {
			t.Fatal(err)
		}
		if res, err := c.Wait(t.Context(), id); err != nil {
			t.Fatalf("%+v %v", res, err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("after %v", took)
		}
	})
}

// TestNoSubscriptionIsLost: two coordinators change one topic at once.
func TestNoSubscriptionIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(nil)
		slow := &intercepted{store, func(ctx context.Context, was driver.Version, rec *driver.Record) error {
			time.Sleep(time.Millisecond) // all of them have read by then
			return store.Update(ctx, was, rec)
		}}
		opts := &coord.Options{Elsewhere: true}
		replicas := []*coord.Coordinator{start(t, slow, opts, nil), start(t, slow, opts, nil)}
		names := []txn.Target{"a", "b", "c", "d", "e", "f", "g", "h"}
		var group sync.WaitGroup
		for i, name := range names {
			group.Go(func() {
				if err := replicas[i%2].Subscribe(t.Context(), "orders", name); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		got, err := replicas[0].Subscribers(t.Context(), "orders")
		slices.Sort(got)
		if err != nil || !slices.Equal(got, names) {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

// TestALargeResultIsNotKept, but what it belongs to is done.
func TestALargeResultIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), &coord.Options{Result: 8}, transferParts())
		res, err := c.Run(t.Context(), transfer())
		if err != nil || len(res.Returned["give"]) != 0 {
			t.Errorf("%+v %v", res, err)
		}
		if a := get(t, c, res.ID).Attempts[0]; a.Excerpt != "result of 13 bytes not kept: at most 8" {
			t.Errorf("recorded as %+v", a)
		}
	})
}

// TestAnInterventionThatThereIsNoneOf: which may be meant is told, and which there are.
func TestAnInterventionThatThereIsNoneOf(t *testing.T) {
	c := start(t, memstore.New(nil), nil, nil)
	const want = `action: "resum" is not known (did you mean resume?); ` +
		`want one of retry, park, resume, compensate, abandon, remove`
	if err := c.Act(t.Context(), "a", "resum", "test"); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestWhatIsPossibleInsteadIsToldToNobody, and people try one intervention after the other.
func TestWhatIsPossibleInsteadIsToldToNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, transferParts())
		id, err := c.Begin(t.Context(), txn.Definition{ID: "a", Mode: "tcc", Timeout: time.Hour})
		must(t, err)
		for _, step := range []struct {
			wrong, right txn.Action
			want         string
		}{
			{txn.ActResume, txn.ActPark, "(open): not possible in this state; possible: retry, park, compensate"},
			{
				txn.ActRetry, txn.ActAbandon,
				"(open, parked): not possible in this state; possible: resume, compensate, abandon",
			},
			{txn.ActPark, txn.ActRemove, "(in-doubt): not possible in this state; possible: remove"},
		} {
			before, err := c.Get(t.Context(), id)
			must(t, err)
			err = c.Act(t.Context(), id, step.wrong, "test")
			if want := string(step.wrong) + " a " + step.want; err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			if after, err := c.Get(t.Context(), id); err != nil || !reflect.DeepEqual(before, after) {
				t.Errorf("%v: %+v has become %+v", err, before, after)
			}
			must(t, c.Act(t.Context(), id, step.right, "test"))
		}
	})
}

// TestNobodySaysWhy: of an intervention without a reason nothing is left for who asks later.
func TestNobodySaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, transferParts())
		id, err := c.Begin(t.Context(), txn.Definition{Mode: "tcc", Timeout: time.Hour})
		must(t, err)
		for _, a := range txn.Actions() {
			for _, reason := range []string{"", " \t"} {
				err := c.Act(t.Context(), id, a, reason)
				if err == nil || err.Error() != "reason: is empty: say why, it is kept" {
					t.Errorf("%s: %v", a, err)
				}
			}
		}
		found, err := c.Get(t.Context(), id)
		must(t, err)
		if found.Parked != "" || found.Status != txn.Open || len(found.Attempts) != 0 {
			t.Errorf("%+v", found)
		}
	})
}

// TestAReasonIsCutInSilence: what is accepted is kept, and what would not be kept is refused.
func TestAReasonIsCutInSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, transferParts())
		id, err := c.Begin(t.Context(), txn.Definition{Mode: "tcc", Timeout: time.Hour})
		must(t, err)
		longest := strings.Repeat("why?", txn.MaxReason/4)
		for _, a := range txn.Actions() {
			for _, reason := range []string{longest + "?", "\xff\xfe", "\u0001"} {
				err := c.Act(t.Context(), id, a, reason)
				if wrong, ok := errors.AsType[*txn.InvalidError](err); !ok || wrong.Field != "reason" {
					t.Errorf("%s because of %.10q: %v", a, reason, err)
				}
			}
		}
		must(t, c.Act(t.Context(), id, txn.ActPark, longest))
		found, err := c.Get(t.Context(), id)
		must(t, err)
		if found.Parked != "by hand: "+longest || len(found.Attempts) != 1 || found.Attempts[0].Excerpt != longest {
			t.Errorf("parked %q, attempts %+v", found.Parked, found.Attempts)
		}
		must(t, c.RollBack(t.Context(), id, longest+" and so on"))
		if found, err = c.Get(t.Context(), id); err != nil || found.Reason != longest {
			t.Errorf("rolled back because of %q, %v", found.Reason, err)
		}
	})
}
