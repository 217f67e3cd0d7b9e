package coord_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// intercepted is a store whose updates go through a function.
type intercepted struct {
	driver.Store
	update func(ctx context.Context, was driver.Version, rec *driver.Record) error
}

func (s *intercepted) Update(ctx context.Context, was driver.Version, rec *driver.Record) error {
	return s.update(ctx, was, rec)
}

// register makes a function a participant of a coordinator.
func register(t *testing.T, c *coord.Coordinator, name string, f txn.Func) {
	t.Helper()
	if err := c.Register(name, f); err != nil {
		t.Fatal(err)
	}
}

// TestDecisionIsDurableBeforeItsFirstCall looks into the store from inside of every
// call.
func TestDecisionIsDurableBeforeItsFirstCall(t *testing.T) {
	tries := []string{"try while running", "try while running"}
	for name, test := range map[string]struct {
		refuse bool
		want   []string
	}{
		"commit":    {false, append(tries, "confirm while committing", "confirm while committing")},
		"roll back": {true, append(tries, "cancel while rolling-back")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memstore.New(nil)
				c := start(t, store, nil, nil)
				var seen []string
				register(t, c, "part", func(ctx context.Context, call txn.Call) ([]byte, error) {
					rec, err := store.Load(ctx, call.Transaction)
					if err != nil {
						return nil, err
					}
					seen = append(seen, call.Op+" while "+string(rec.Status))
					if test.refuse && call.Branch == "flight" {
						return nil, errNoMoney
					}
					return nil, nil
				})
				res, err := c.Run(t.Context(), txn.Definition{Mode: "tcc", Parallel: 1, Branches: []txn.Branch{
					{ID: "hotel", Do: "part", Confirm: "part", Undo: "part"},
					{ID: "flight", Do: "part", Confirm: "part", Undo: "part"},
				}})
				if (err != nil) != test.refuse {
					t.Errorf("%+v %v", res, err)
				}
				if diff := cmp.Diff(test.want, seen); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestOutcomeIsToldWhenItIsDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(nil)
		written := make(chan struct{})
		slow := &intercepted{store, func(ctx context.Context, was driver.Version, rec *driver.Record) error {
			if rec.Status.Final() {
				<-written
			}
			return store.Update(ctx, was, rec)
		}}
		c := start(t, slow, nil, transferParts())
		told := make(chan txn.Result, 1)
		go func() {
			res, _ := c.Run(t.Context(), transfer())
			told <- res
		}()
		synctest.Wait()
		if len(told) > 0 {
			t.Error("told before it was written")
		}
		close(written)
		if res := <-told; res.Outcome != txn.Committed {
			t.Errorf("%+v", res)
		}
	})
}

// TestLostAcknowledgementIsFoundOut: the store has made the decision durable, but
// its answer is lost. The owner finds out, and goes on at once.
func TestLostAcknowledgementIsFoundOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(nil)
		lost := false
		lossy := &intercepted{store, func(ctx context.Context, was driver.Version, rec *driver.Record) error {
			own := rec.Clone()
			err := store.Update(ctx, was, own)
			if rec.Status == txn.RollingBack && !lost {
				lost = true
				return errors.New("connection reset")
			}
			rec.Revision = own.Revision
			return err
		}}
		parts := transferParts()
		parts.answer("give", errNoMoney)
		c := start(t, lossy, nil, parts)
		began := time.Now()
		res, _ := c.Run(t.Context(), transfer())
		if res.Outcome != txn.RolledBack || !lost {
			t.Fatalf("%+v", res)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("rolled back after %v, as if the owner had let go", took)
		}
		if tx := get(t, c, res.ID); tx.Epoch != 1 {
			t.Errorf("epoch %d", tx.Epoch)
		}
		if diff := cmp.Diff([]string{"take action", "give action", "take compensate"}, parts.made()); diff != "" {
			t.Error(diff)
		}
	})
}
