package coord_test

import (
	"context"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/bedrocktest"
	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/msg"
)

// busy is a participant whose calls take their time.
func busy(calls *atomic.Int32, takes time.Duration) txn.Func {
	return func(ctx context.Context, _ txn.Call) ([]byte, error) {
		calls.Add(1)
		select {
		case <-time.After(takes):
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// TestWaitingForASlotIsNoFailure: a participant that is well and only busy gets every
// call once, and no transaction uses up an attempt in its queue.
func TestWaitingForASlotIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), &coord.Options{PerTarget: 4}, newParticipants("undo"))
		var calls atomic.Int32
		register(t, c, "slow", busy(&calls, time.Second))
		const n = 60 // 15 s of work for 4 slots
		var ids []string
		for range n {
			id, err := c.Submit(t.Context(), txn.Definition{Mode: "saga", Branches: []txn.Branch{{
				ID: "a", Do: "slow", Undo: "undo", Policy: &txn.Policy{Timeout: 3 * time.Second, Attempts: 2},
			}}})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		for _, id := range ids {
			if res, err := c.Wait(t.Context(), id); err != nil {
				t.Errorf("%+v %v", res, err)
			}
		}
		if calls.Load() != n {
			t.Errorf("%d calls for %d transactions", calls.Load(), n)
		}
	})
}

// TestTheDeadlineGoesOnInTheQueue: it was promised to participants and callers. Who
// leaves the queue is never called, and there is nothing to undo.
func TestTheDeadlineGoesOnInTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		undo := newParticipants("undo")
		c := start(t, memstore.New(nil), &coord.Options{PerTarget: 1}, undo)
		var calls atomic.Int32
		register(t, c, "slow", busy(&calls, 8*time.Second))
		d := txn.Definition{Mode: "saga", Branches: []txn.Branch{{ID: "a", Do: "slow", Undo: "undo"}}}
		first, err := c.Submit(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		d.Timeout = 2 * time.Second
		began := time.Now()
		if res, err := c.Run(t.Context(), d); res.Outcome != txn.RolledBack {
			t.Errorf("%+v %v", res, err)
		}
		if took := time.Since(began); took > 2100*time.Millisecond {
			t.Errorf("rolled back after %v", took)
		}
		if res, err := c.Wait(t.Context(), first); err != nil {
			t.Errorf("%+v %v", res, err)
		}
		time.Sleep(time.Minute)
		if calls.Load() != 1 || undo.count() != 0 {
			t.Errorf("%d calls, want the first one's; %d undone, want none", calls.Load(), undo.count())
		}
	})
}

// TestASlotIsNotLostToACallThatNeverEnds: a function that minds no context keeps its
// goroutine, and not the way to everybody else's call.
func TestASlotIsNotLostToACallThatNeverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), &coord.Options{PerTarget: 1}, newParticipants("undo"))
		release := make(chan struct{})
		defer close(release)
		register(t, c, "slow", func(_ context.Context, call txn.Call) ([]byte, error) {
			if call.Transaction == "poison" {
				<-release
			}
			return nil, nil
		})
		d := txn.Definition{ID: "poison", Mode: "saga", Branches: []txn.Branch{{
			ID: "a", Do: "slow", Undo: "undo", Policy: &txn.Policy{Timeout: time.Second, Attempts: 1},
		}}}
		if _, err := c.Submit(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		d.ID = ""
		began := time.Now()
		if res, err := c.Run(t.Context(), d); err != nil || time.Since(began) > 3*time.Second {
			t.Errorf("%+v %v after %v", res, err, time.Since(began))
		}
	})
}

// TestASlotIsNotLostWithItsTransaction: somebody else has taken it over while its call
// hung, and nobody here waits for that any more.
func TestASlotIsNotLostWithItsTransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(nil)
		release := make(chan struct{})
		defer close(release)
		both := make([]*coord.Coordinator, 2)
		for i := range both {
			both[i] = start(t, store, &coord.Options{PerTarget: 1, Lease: time.Second}, newParticipants("undo"))
			register(t, both[i], "slow", func(_ context.Context, call txn.Call) ([]byte, error) {
				if call.Transaction == "poison" {
					<-release
				}
				return nil, nil
			})
		}
		d := txn.Definition{ID: "poison", Mode: "saga", Branches: []txn.Branch{{
			ID: "a", Do: "slow", Undo: "undo", Policy: &txn.Policy{Timeout: time.Minute},
		}}}
		if _, err := both[0].Submit(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := both[1].Act(t.Context(), "poison", txn.ActCompensate, "a test"); err != nil {
			t.Fatal(err)
		}
		d.ID = ""
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if res, err := both[0].Run(ctx, d); err != nil || time.Since(began) > 3*time.Second {
			t.Errorf("%+v %v after %v", res, err, time.Since(began))
		}
	})
}

// processor is the time that this process has spent at work.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestARunThatIsToParkSleeps until its last call has ended, though another branch is
// due. Virtual time would stand still if it did not, so this is the processor's.
func TestARunThatIsToParkSleeps(t *testing.T) {
	c := start(t, memstore.New(nil), nil, newParticipants("undo"))
	release := make(chan struct{})
	register(t, c, "slow", func(ctx context.Context, _ txn.Call) ([]byte, error) {
		select {
		case <-release:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	register(t, c, "again", func(context.Context, txn.Call) ([]byte, error) { return nil, errBroken })
	register(t, c, "spent", func(context.Context, txn.Call) ([]byte, error) {
		time.Sleep(100 * time.Millisecond)
		return nil, errBroken
	})
	id, err := c.Submit(t.Context(), txn.Definition{Mode: "saga", Branches: []txn.Branch{
		{ID: "a", Do: "slow", Undo: "undo"},
		{ID: "b", Do: "again", Undo: "undo", Policy: &txn.Policy{Backoff: 300 * time.Millisecond}},
		{ID: "c", Do: "spent", Undo: "undo", Policy: &txn.Policy{Attempts: 1, Then: txn.Park}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	before := processor()
	time.Sleep(time.Second)
	if used := processor() - before; used > 200*time.Millisecond {
		t.Errorf("%v of work in a second of waiting for one call", used)
	}
	close(release)
	if res, _ := c.Wait(t.Context(), id); res.Parked == "" {
		t.Errorf("not parked: %+v", res)
	}
}

// gate keeps updates waiting while it is shut.
type gate struct {
	driver.Store
	shut atomic.Pointer[chan struct{}]
}

func (g *gate) Update(ctx context.Context, was driver.Version, rec *driver.Record) error {
	if shut := g.shut.Load(); shut != nil {
		<-*shut
	}
	return g.Store.Update(ctx, was, rec)
}

// stall keeps calls to assured branches waiting until they are let go.
type stall struct {
	nobody
	letGo chan struct{}
}

func (s *stall) Call(_ context.Context, call *txn.Call, to txn.Target) (map[string]string, func(txn.Answer)) {
	if to == "async:mail" {
		<-s.letGo
	}
	return call.Headers, func(txn.Answer) {}
}

type nobody struct{}

func (nobody) Submit(context.Context, *txn.Definition) map[string]string { return nil }

// TestStoppingUsesNoAttemptOfAnAssuredBranch: its message is refused because the
// coordinator stops, before the call has been broken off.
func TestStoppingUsesNoAttemptOfAnAssuredBranch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &gate{Store: memstore.New(nil)}
		trace := &stall{letGo: make(chan struct{})}
		c1, err := coord.New(store, &coord.Options{Tracing: trace, Elsewhere: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := c1.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		id, err := c1.Submit(t.Context(), txn.Definition{Mode: "saga", Branches: []txn.Branch{
			{ID: "a", Do: "async:mail", Policy: &txn.Policy{Attempts: 1}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		opened := make(chan struct{})
		store.shut.Store(&opened)
		time.Sleep(3 * time.Second) // its driver writes for its lease, and is kept waiting
		stopped := make(chan error)
		go func() { stopped <- c1.Stop(t.Context()) }()
		synctest.Wait()
		close(trace.letGo)
		synctest.Wait()
		store.shut.Store(nil)
		close(opened)
		if err := <-stopped; err != nil {
			t.Fatal(err)
		}
		c2 := start(t, store.Store, nil, newParticipants("mail"))
		if res, err := c2.Wait(t.Context(), id); err != nil {
			t.Errorf("%+v %v", res, err)
		}
	})
}

// TestAnOutageUsesNoAttemptOfAnAssuredBranch: the store takes the transaction, and then not the message
// that carries its call.
func TestAnOutageUsesNoAttemptOfAnAssuredBranch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &noMessages{Store: memstore.New(nil), until: time.Now().Add(time.Minute)}
		parts := newParticipants("mail")
		c := start(t, store, nil, parts)
		res, err := c.Run(t.Context(), txn.Definition{Mode: "saga", Branches: []txn.Branch{
			{ID: "a", Do: "async:mail", Policy: &txn.Policy{Attempts: 1}},
		}})
		if err != nil {
			t.Errorf("%+v %v", res, err)
		}
	})
}

// noMessages is a store that cannot be reached with what async calls become, as a slot of a cluster.
type noMessages struct {
	driver.Store
	until time.Time
}

func (s *noMessages) Create(ctx context.Context, rec *driver.Record) error {
	if rec.Mode == msg.Name && time.Now().Before(s.until) {
		return driver.ErrUnavailable
	}
	return s.Store.Create(ctx, rec)
}

// TestAnAnswerDuringAnOutageCounts: what a participant has answered in time is not
// given up because its transaction was busy with a store that did not answer.
func TestAnAnswerDuringAnOutageCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := bedrocktest.NewStore(memstore.New(nil))
		c := start(t, store, nil, newParticipants("undo"))
		register(t, c, "steady", busy(new(atomic.Int32), 500*time.Millisecond))
		register(t, c, "later", func(_ context.Context, call txn.Call) ([]byte, error) {
			if call.Attempt == 1 {
				return nil, txn.Pending(300 * time.Millisecond) // old progress is written before the next call
			}
			return nil, nil
		})
		d := txn.Definition{Mode: "saga", Branches: []txn.Branch{
			{ID: "steady", Do: "steady", Undo: "undo", Policy: &txn.Policy{Timeout: time.Second, Attempts: 1}},
			{ID: "later", Do: "later", Undo: "undo"},
		}}
		var ids []string
		for range 20 { // chance chose between the answer and the end of its time
			id, err := c.Submit(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		time.Sleep(200 * time.Millisecond)
		die(store)
		time.Sleep(2400 * time.Millisecond)
		store.Up()
		for _, id := range ids {
			if res, err := c.Wait(t.Context(), id); err != nil {
				t.Errorf("%s: %v", res.Outcome, err)
			}
		}
	})
}
