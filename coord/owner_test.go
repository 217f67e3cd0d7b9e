package coord_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// counter is an observer that counts events by kind.
type counter struct {
	mu sync.Mutex
	n  map[coord.EventKind]int
}

func (c *counter) Observe(_ context.Context, e coord.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = make(map[coord.EventKind]int)
	}
	c.n[e.Kind]++
}

func (c *counter) count(kind coord.EventKind) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[kind]
}

// TestOvertakenRunLetsGo: while an owner is cut off from the store, somebody else
// rolls its transaction back. The owner then gets the answer that completes it.
func TestOvertakenRunLetsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(nil)
		cutOff, events := bedrocktest.NewStore(store), &counter{}
		c1 := start(t, cutOff, &coord.Options{Observer: events}, newParticipants("take", "give-back", "take-back"))
		block := make(chan struct{})
		register(t, c1, "give", func(context.Context, txn.Call) ([]byte, error) { <-block; return nil, nil })
		d := transfer()
		d.ID = "order-42"
		told := make(chan txn.Result, 1)
		go func() {
			res, _ := c1.Run(t.Context(), d)
			told <- res
		}()
		synctest.Wait()
		die(cutOff)
		time.Sleep(4 * time.Second) // the owner wants to renew its lease
		c2 := start(t, store, nil, transferParts())
		if err := c2.RollBack(t.Context(), d.ID, "changed my mind"); err != nil {
			t.Fatal(err)
		}
		if res, _ := c2.Wait(t.Context(), d.ID); res.Outcome != txn.RolledBack {
			t.Fatalf("%+v", res)
		}
		before := get(t, c2, d.ID)
		cutOff.Up()
		close(block)
		if res := <-told; res.Outcome != txn.RolledBack {
			t.Errorf("the overtaken owner told %+v", res)
		}
		if n := events.count(coord.EventFenced); n != 1 {
			t.Errorf("told %d times that it was overtaken", n)
		}
		if after := get(t, c2, d.ID); after.Revision != before.Revision || before.Epoch != 2 {
			t.Errorf("epoch %d; written by the overtaken owner: %+v", before.Epoch, after)
		}
	})
}

func TestALongCallKeepsItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(nil)
		var calls atomic.Int32
		slow := func(context.Context, txn.Call) ([]byte, error) {
			calls.Add(1)
			time.Sleep(20 * time.Second)
			return nil, nil
		}
		d := transfer()
		d.Branches[1].Policy = &txn.Policy{Timeout: 30 * time.Second}
		var owners []*coord.Coordinator
		for range 2 {
			c := start(t, store, nil, newParticipants("take", "give-back", "take-back"))
			register(t, c, "give", slow)
			owners = append(owners, c)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		res, err := owners[0].Run(ctx, d)
		if err != nil || calls.Load() != 1 {
			t.Errorf("%+v %v; called %d times", res, err, calls.Load())
		}
		if tx := get(t, owners[0], res.ID); tx.Epoch != 1 {
			t.Errorf("taken over: epoch %d", tx.Epoch)
		}
	})
}

// begin opens a transaction with one branch.
func begin(t *testing.T, c *coord.Coordinator) string {
	t.Helper()
	id, err := c.Begin(t.Context(), txn.Definition{Mode: "tcc", Branches: []txn.Branch{
		{ID: "hotel", Confirm: "confirm", Undo: "cancel"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestEnlistMeetsTheDecision: a branch is about to join when another coordinator
// commits.
func TestEnlistMeetsTheDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(nil)
		parts := newParticipants("confirm", "cancel")
		parts.answer("confirm", errBroken) // so that it stays on its way
		c2 := start(t, store, nil, parts)
		var once sync.Once
		race := &intercepted{store, func(ctx context.Context, was driver.Version, rec *driver.Record) error {
			once.Do(func() {
				if err := c2.Commit(ctx, rec.ID); err != nil {
					t.Error(err)
				}
			})
			return store.Update(ctx, was, rec)
		}}
		c1 := start(t, race, nil, parts)
		id := begin(t, c1)
		err := c1.Enlist(t.Context(), id, txn.Branch{ID: "late", Confirm: "confirm", Undo: "cancel"})
		if !errors.Is(err, txn.ErrDecided) {
			t.Errorf("a branch joined beside the decision: %v", err)
		}
		if tx := get(t, c2, id); len(tx.Branches) != 1 || tx.Status != txn.Committing {
			t.Errorf("%s with %d branches", tx.Status, len(tx.Branches))
		}
	})
}

func TestTheFirstDecisionCounts(t *testing.T) {
	type decision func(ctx context.Context, id string) error
	for _, test := range []struct {
		name   string
		decide func(commit, rollBack decision) (first, second decision)
		want   txn.Status
	}{
		{
			"commit", func(commit, rollBack decision) (first, second decision) { return commit, rollBack },
			txn.Committing,
		},
		{
			"roll back", func(commit, rollBack decision) (first, second decision) { return rollBack, commit },
			txn.RollingBack,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parts := newParticipants("confirm", "cancel")
				parts.answer("confirm", errBroken)
				parts.answer("cancel", errBroken)
				c := start(t, memstore.New(nil), nil, parts)
				first, second := test.decide(c.Commit, func(ctx context.Context, id string) error {
					return c.RollBack(ctx, id, "no")
				})
				id := begin(t, c)
				for range 2 { // it may be repeated
					if err := first(t.Context(), id); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				if err := second(t.Context(), id); !errors.Is(err, txn.ErrDecided) {
					t.Errorf("the opposite: %v", err)
				}
				if tx := get(t, c, id); tx.Status != test.want {
					t.Errorf("it is %s", tx.Status)
				}
			})
		})
	}
}

// TestADecisionComesAfterTheDeadline: participants were told the deadline, and may have
// let go. That nobody has looked at the transaction since changes nothing, nor does
// the clock of the coordinator's machine.
func TestADecisionComesAfterTheDeadline(t *testing.T) {
	for name, late := range map[string]func(*coord.Coordinator, context.Context) error{
		"commit": func(c *coord.Coordinator, ctx context.Context) error { return c.Commit(ctx, "booking") },
		"enlist": func(c *coord.Coordinator, ctx context.Context) error { return c.Enlist(ctx, "booking", seat(2)) },
	} {
		for when, ahead := range map[string]time.Duration{"in time": -time.Millisecond, "late": time.Millisecond} {
			t.Run(name+" "+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					const skew = 42 * time.Hour
					store := memstore.New(&memstore.Options{Now: func() time.Time { return time.Now().Add(skew) }})
					// Whoever claims is away, so nobody rolls it back but the latecomer.
					c := start(t, &unclaimed{Store: store}, nil, newParticipants("confirm", "cancel"))
					d := booking("booking")
					d.Timeout = time.Minute
					must(t, second(c.Begin(t.Context(), d)))
					must(t, c.Enlist(t.Context(), "booking", seat(1)))
					time.Sleep(d.Timeout + ahead)
					err := late(c, t.Context())
					time.Sleep(time.Second)
					tx := get(t, c, "booking")
					switch {
					case when == "in time" && err != nil:
						t.Errorf("%s: %v", when, err)
					case when == "late" && (!errors.Is(err, txn.ErrDecided) || tx.Status != txn.RolledBack):
						t.Errorf("%s: %v; it is %s", when, err, tx.Status)
					}
				})
			})
		}
	}
}

// unclaimed is a store that tells the time and hands nothing over.
type unclaimed struct{ driver.Store }

func (s *unclaimed) Claim(ctx context.Context, c driver.Claim) (driver.Claimed, error) {
	c.Target = " " // nobody waits for that
	return s.Store.Claim(ctx, c)
}

// TestNoDecisionIsLateBecauseTheStoreIsSlow: a coordinator learns the store's time from
// answers that were long under way. It must not take for open what another one, nearer to
// the store, has given until a moment that is over.
func TestNoDecisionIsLateBecauseTheStoreIsSlow(t *testing.T) {
	for name, late := range map[string]func(*coord.Coordinator, context.Context) error{
		"commit": func(c *coord.Coordinator, ctx context.Context) error { return c.Commit(ctx, "booking") },
		"enlist": func(c *coord.Coordinator, ctx context.Context) error { return c.Enlist(ctx, "booking", seat(2)) },
	} {
		for when, claims := range map[string]int64{"from its first answer": 1, "from all answers": 1000} {
			t.Run(name+" "+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store := &unclaimed{Store: memstore.New(nil)}
					near := start(t, store, nil, newParticipants("confirm", "cancel"))
					slow := &slowClock{Store: store}
					slow.answers.Store(claims)
					c := start(t, slow, nil, newParticipants("confirm", "cancel"))
					d := booking("booking")
					d.Timeout = 300 * time.Millisecond
					must(t, second(near.Begin(t.Context(), d)))
					deadline := time.Now().Add(d.Timeout)
					time.Sleep(time.Until(deadline))
					if err := late(c, t.Context()); !errors.Is(err, txn.ErrDecided) {
						t.Errorf("%v after the deadline: %v, want %v", time.Since(deadline), err, txn.ErrDecided)
					}
				})
			})
		}
	}
}

// slowClock is a store whose next few answers that tell the time are long under way.
type slowClock struct {
	driver.Store

	answers atomic.Int64
}

func (s *slowClock) Now(ctx context.Context) (time.Time, error) {
	now, err := s.Store.Now(ctx)
	s.linger()
	return now, err
}

func (s *slowClock) Claim(ctx context.Context, c driver.Claim) (driver.Claimed, error) {
	claimed, err := s.Store.Claim(ctx, c)
	s.linger()
	return claimed, err
}

func (s *slowClock) linger() {
	if s.answers.Add(-1) >= 0 {
		time.Sleep(400 * time.Millisecond)
	}
}

// TestTheStoresClockCounts: this machine's clock is an hour off.
func TestTheStoresClockCounts(t *testing.T) {
	for _, off := range []time.Duration{time.Hour, -time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			now := func() time.Time { return time.Now().Add(off) }
			parts := newParticipants("cancel")
			c := start(t, memstore.New(&memstore.Options{Now: now}), nil, parts)
			id, err := c.Begin(t.Context(),
				txn.Definition{Mode: "tcc", Timeout: 5 * time.Second, Branches: []txn.Branch{
					{ID: "hotel", Undo: "cancel"},
				}})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if res, _ := c.Wait(t.Context(), id); res.Outcome != txn.RolledBack {
				t.Fatalf("%+v", res)
			}
			if took := time.Since(began); took < 5*time.Second || took > 8*time.Second {
				t.Errorf("the store's clock is %v ahead: expired after %v", off, took)
			}
			tx := get(t, c, id)
			if d := tx.Finished.Sub(now()).Abs(); d > time.Minute {
				t.Errorf("finished %v from the store's time", d)
			}
			if diff := cmp.Diff([]string{"hotel cancel"}, parts.made()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSubmitsMeetTheStop: what is accepted while a coordinator stops is left to others,
// and nobody drives it once Stop has returned.
func TestSubmitsMeetTheStop(t *testing.T) {
	for range 50 {
		store, parts := memstore.New(nil), transferParts()
		c := start(t, store, nil, parts)
		var group sync.WaitGroup
		var accepted atomic.Int64
		for range 8 {
			group.Go(func() {
				for {
					if _, err := c.Submit(t.Context(), transfer()); err != nil {
						return
					}
					accepted.Add(1)
				}
			})
		}
		if err := c.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		calls := parts.count()
		group.Wait()
		if n := parts.count(); n != calls {
			t.Errorf("%d calls after the stop", n-calls)
		}
		counts, err := store.Count(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for _, n := range counts.ByStatus {
			total += n
		}
		if int64(total) != accepted.Load() {
			t.Errorf("%d transactions are stored, %d were accepted", total, accepted.Load())
		}
	}
}

// TestStopLeavesAFunctionBehind: a run that was overtaken lets go at once, and waits for
// none of its calls. The function is about to use what its program closes after Stop.
func TestStopLeavesAFunctionBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fenced := make(chan struct{})
		c, err := coord.New(removed{memstore.New(nil)}, &coord.Options{Observer: tell{coord.EventFenced, fenced}})
		must(t, err)
		newParticipants("quick", "undo").register(t, c)
		var running atomic.Bool
		register(t, c, "slow", func(ctx context.Context, _ txn.Call) ([]byte, error) {
			running.Store(true)
			defer running.Store(false)
			<-ctx.Done()
			time.Sleep(500 * time.Millisecond) // to clean up
			return nil, ctx.Err()
		})
		must(t, c.Start(t.Context()))
		submit(t, c, txn.Definition{Mode: "saga", Branches: []txn.Branch{
			{ID: "a", Do: "quick", Undo: "undo"}, {ID: "b", Do: "slow", Undo: "undo"},
		}})
		<-fenced
		must(t, c.Stop(t.Context()))
		if running.Load() {
			t.Error("a function still runs after Stop")
		}
	})
}

// tell is an observer that waits for one kind of event, once.
type tell struct {
	kind coord.EventKind
	c    chan struct{}
}

func (o tell) Observe(_ context.Context, e coord.Event) {
	if e.Kind == o.kind {
		close(o.c)
	}
}
