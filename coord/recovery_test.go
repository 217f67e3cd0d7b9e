package coord_test

import (
	"context"
	"errors"
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

func TestCrashIsRecovered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The first owner hangs in its second step and is then cut off from the store.
		store, dying, c1 := mortalOwner(t, newParticipants("take", "give-back", "take-back"))
		block := make(chan struct{})
		if err := c1.Register("give",
			func(context.Context, txn.Call) ([]byte, error) { <-block; return nil, nil }); err != nil {
			t.Fatal(err)
		}
		id, err := c1.Submit(t.Context(), transfer())
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		die(dying)
		parts := transferParts()
		c2 := start(t, store, nil, parts)
		began := time.Now()
		res, err := c2.Wait(t.Context(), id)
		if err != nil || res.Outcome != txn.Committed {
			t.Fatalf("%+v %v", res, err)
		}
		if took := time.Since(began); took > 7*time.Second {
			t.Errorf("recovered after %v", took)
		}
		tx := get(t, c2, id)
		if tx.Epoch != 2 {
			t.Errorf("epoch %d", tx.Epoch)
		}
		// The call that was lost with its coordinator is nowhere written down.
		if last := tx.Attempts[len(tx.Attempts)-1]; last.Op != "action" || last.Number != 1 || last.Times() != 1 {
			t.Errorf("after the crash: %+v", last)
		}
		close(block)
	})
}

// TestCrashLeavesDoubt: what a crashed owner may have called is undone, although
// nothing of it is entered.
func TestCrashLeavesDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := transferParts()
		first.answer("give", errBroken)
		store, dying, c1 := mortalOwner(t, first)
		id, err := c1.Submit(t.Context(), transfer())
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // take is done, give has failed, and none of it is written
		die(dying)
		parts := transferParts()
		c2 := start(t, store, nil, parts)
		if err := c2.RollBack(t.Context(), id, "changed my mind"); err != nil {
			t.Fatal(err)
		}
		if res, _ := c2.Wait(t.Context(), id); res.Outcome != txn.RolledBack {
			t.Fatalf("%+v", res)
		}
		if diff := cmp.Diff([]string{"give compensate", "take compensate"}, parts.made()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestStopHandsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(nil)
		parts := transferParts()
		parts.answer("give", errBroken)
		c1, err := coord.New(store, nil)
		if err != nil {
			t.Fatal(err)
		}
		parts.register(t, c1)
		if err := c1.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		id, err := c1.Submit(t.Context(), transfer())
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := c1.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := c1.Submit(t.Context(), transfer()); !errors.Is(err, txn.ErrClosed) {
			t.Errorf("submit after stop: %v", err)
		}
		parts.answer("give", nil)
		c2 := start(t, store, nil, parts)
		began := time.Now()
		if res, err := c2.Wait(t.Context(), id); err != nil {
			t.Fatalf("%+v %v", res, err)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("taken over after %v, as if the lease had to run out", took)
		}
	})
}

// slowClaims answers a claim a while after it was made.
type slowClaims struct{ driver.Store }

func (s *slowClaims) Claim(ctx context.Context, q driver.Claim) (driver.Claimed, error) {
	claimed, err := s.Store.Claim(ctx, q)
	select {
	case <-time.After(50 * time.Millisecond):
		return claimed, err
	case <-ctx.Done():
		return driver.Claimed{}, ctx.Err()
	}
}

// claimedByAnother has one coordinator accept transactions for which it has no room, and
// another one claim them in its own view of the store. When this returns the last is
// claimed, and the answer may still be under way.
func claimedByAnother(
	t *testing.T, store, view driver.Store, parts *participants, n int,
) (full, other *coord.Coordinator, last string) {
	full = withoutRoom(t, store, parts)
	var err error
	for range n {
		last, err = full.Submit(t.Context(), transfer())
		must(t, err)
	}
	other, err = coord.New(view, nil)
	must(t, err)
	parts.register(t, other)
	must(t, other.Start(t.Context()))
	for get(t, full, last).Owner == "" {
		time.Sleep(time.Millisecond)
	}
	return full, other, last
}

// TestStopKeepsWhatIsBeingClaimed: a claim that is under way takes records whose new owner
// is about to go, and they are nobody's until the lease is over.
func TestStopKeepsWhatIsBeingClaimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(nil)
		parts := transferParts()
		full, stopping, id := claimedByAnother(t, store, &slowClaims{store}, parts, 1)
		must(t, stopping.Stop(t.Context()))
		stopped := time.Now()
		start(t, store, nil, parts)
		if _, err := full.Wait(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(stopped); took > time.Second {
			t.Errorf("taken up %v after the stop", took)
		}
	})
}

// TestStopPutsBackOneByOne: a claim that ends with the stop has brought a hundred records,
// and each write takes a tenth of a second.
func TestStopPutsBackOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(nil)
		_, stopping, _ := claimedByAnother(t, store, &slowWrites{Store: &slowClaims{store}}, transferParts(), 100)
		began := time.Now()
		must(t, stopping.Stop(t.Context()))
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("stopped after %v", took)
		}
	})
}

// slowWrites is a store whose writes take their time.
type slowWrites struct{ driver.Store }

func (s *slowWrites) Update(ctx context.Context, was driver.Version, rec *driver.Record) error {
	time.Sleep(100 * time.Millisecond)
	return s.Store.Update(ctx, was, rec)
}

// TestStopDoesNotWaitForAClaim that nobody answers.
func TestStopDoesNotWaitForAClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &silent{Store: memstore.New(nil)}
		c, err := coord.New(store, nil)
		must(t, err)
		must(t, c.Start(t.Context()))
		store.hangs.Store(true)
		time.Sleep(time.Second)
		began := time.Now()
		must(t, c.Stop(t.Context()))
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("stopped after %v", took)
		}
	})
}

// silent is a store that may hang.
type silent struct {
	driver.Store

	hangs atomic.Bool
}

func (s *silent) Claim(ctx context.Context, q driver.Claim) (driver.Claimed, error) {
	if s.hangs.Load() {
		<-ctx.Done()
		return driver.Claimed{}, ctx.Err()
	}
	return s.Store.Claim(ctx, q)
}

// TestDownAloneKeepsItsPauses: a target that is down for one transaction only is
// not called again and again because it is up for the others.
func TestDownAloneKeepsItsPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, memstore.New(nil), nil, newParticipants("give", "give-back", "take-back"))
		var poison atomic.Int32
		if err := c.Register("take", func(ctx context.Context, call txn.Call) ([]byte, error) {
			if call.Transaction != "poison" {
				return nil, nil
			}
			poison.Add(1)
			<-ctx.Done()
			return nil, ctx.Err()
		}); err != nil {
			t.Fatal(err)
		}
		d := transfer()
		d.ID, d.Branches[0].Policy = "poison", &txn.Policy{Timeout: 100 * time.Millisecond}
		if _, err := c.Submit(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		for range 600 {
			if _, err := c.Run(t.Context(), transfer()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if n := poison.Load(); n < 10 || n > 25 {
			t.Errorf("%d calls in 10 minutes", n)
		}
	})
}
