package coord_test

import (
	"context"
	"errors"
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

// laborious is a store that takes a while to create a record, or fails to.
type laborious struct {
	driver.Store
	fails bool
	late  bool // what a caller has given up is written all the same, later
}

func (s *laborious) Create(ctx context.Context, rec *driver.Record) error {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		if s.late {
			own := rec.Clone()
			time.AfterFunc(500*time.Millisecond, func() { _ = s.Store.Create(context.WithoutCancel(ctx), own) })
		}
	}
	if s.fails {
		return errors.Join(driver.ErrUnavailable, ctx.Err())
	}
	return s.Store.Create(ctx, rec)
}

// submitBeside submits a transaction while it is being submitted; the context is
// that of the first submit.
func submitBeside(ctx context.Context, t *testing.T, c *coord.Coordinator, d txn.Definition) (first, second error) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := c.Submit(ctx, transferAs("order-42"))
		done <- err
	}()
	synctest.Wait()
	_, second = c.Submit(t.Context(), d)
	return <-done, second
}

func transferAs(id string) txn.Definition {
	d := transfer()
	d.ID = id
	return d
}

// TestSubmittedBesideItself: the second submit waits for what becomes of the first.
func TestSubmittedBesideItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := transferParts()
		c := start(t, &laborious{Store: memstore.New(nil)}, nil, parts)
		first, second := submitBeside(t.Context(), t, c, transferAs("order-42"))
		if first != nil || second != nil {
			t.Errorf("first %v, second %v", first, second)
		}
		if res, err := c.Wait(t.Context(), "order-42"); err != nil || parts.count() != 2 {
			t.Errorf("%+v %v, %d calls", res, err, parts.count())
		}
	})
}

func TestSubmittedBesideOtherContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, &laborious{Store: memstore.New(nil)}, nil, transferParts())
		other := transferAs("order-42")
		other.Payload = []byte(`{"amount":31}`)
		first, second := submitBeside(t.Context(), t, c, other)
		if first != nil || !errors.Is(second, txn.ErrExists) {
			t.Errorf("first %v, second %v", first, second)
		}
	})
}

// TestSubmittedBesideAFailure: the first submit is given up while its write is under
// way, and nobody knows whether that arrives. The second one finds out by itself, and
// the transaction is driven once.
func TestSubmittedBesideAFailure(t *testing.T) {
	for name, late := range map[string]bool{"never written": false, "written late": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parts := transferParts()
				c := start(t, &laborious{Store: memstore.New(nil), late: late}, nil, parts)
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				first, second := submitBeside(ctx, t, c, transferAs("order-42"))
				if !isInDoubt(first) || second != nil {
					t.Errorf("first %v, second %v", first, second)
				}
				time.Sleep(time.Minute)
				if tx := get(t, c, "order-42"); tx.Status != txn.Committed || parts.count() != 2 {
					t.Errorf("%s, %d calls", tx.Status, parts.count())
				}
			})
		})
	}
}

// TestNotToldToHaveFailedWhileTheOtherGoesOn: whoever waits for a submit of the same
// transaction, and not long enough, knows nothing.
func TestNotToldToHaveFailedWhileTheOtherGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, &laborious{Store: memstore.New(nil)}, nil, transferParts())
		go c.Submit(t.Context(), transferAs("order-42"))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if res, err := c.Run(ctx, transferAs("order-42")); !isInDoubt(err) || res.Outcome != txn.InDoubt {
			t.Errorf("%+v %v", res, err)
		}
	})
}

// TestNotToldToHaveFailedWhenAccepted: the create took effect, its acknowledgement was
// lost, and the store does not answer the question what became of it.
func TestNotToldToHaveFailedWhenAccepted(t *testing.T) {
	for name, problem := range map[string]error{"hangs": nil, "is away": driver.ErrUnavailable, "fails": errBroken} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &unreadable{Store: bedrocktest.NewStore(memstore.New(nil)), problem: problem}
				store.LoseReply(bedrocktest.Create)
				parts := transferParts()
				c := start(t, store, nil, parts)
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				res, err := c.Run(ctx, transfer())
				if res.Outcome != txn.InDoubt || !isInDoubt(err) {
					t.Errorf("outcome %q, %v", res.Outcome, err)
				}
				store.readable.Store(true)
				time.Sleep(30 * time.Second)
				if tx := get(t, c, res.ID); tx.Status != txn.Committed {
					t.Errorf("it was accepted, and is %s", tx.Status)
				}
			})
		})
	}
}

// unreadable is a store that cannot be read.
type unreadable struct {
	*bedrocktest.Store
	problem  error // nil: it hangs
	readable atomic.Bool
}

func (s *unreadable) Load(ctx context.Context, id string) (*driver.Record, error) {
	switch {
	case s.readable.Load():
		return s.Store.Load(ctx, id)
	case s.problem != nil:
		return nil, s.problem
	default:
		<-ctx.Done()
		return nil, ctx.Err()
	}
}

func isInDoubt(err error) bool {
	_, ok := errors.AsType[*txn.InDoubtError](err)
	return ok
}

// TestARefusedSubmitIsNotInDoubt: nothing has happened, and the result says so.
func TestARefusedSubmitIsNotInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &laborious{Store: memstore.New(nil), fails: true}
		c := start(t, store, nil, transferParts())
		d := transfer()
		d.Mode = "guess"
		if res, err := c.Run(t.Context(), d); err == nil || res.Outcome != "" || res.Reason == "" {
			t.Errorf("refused: %+v %v", res, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if res, err := c.Run(ctx, transfer()); err == nil || res.Outcome != txn.InDoubt {
			t.Errorf("not known: %+v %v", res, err)
		}
	})
}

// TestNotToldToHaveNeverBeenWhenRemoved: it was accepted, and has ended elsewhere. That its
// record is gone by now does not mean that nothing happened.
func TestNotToldToHaveNeverBeenWhenRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, removed{memstore.New(nil)}, nil, transferParts())
		if res, err := c.Run(t.Context(), transfer()); !isInDoubt(err) || res.Outcome != txn.InDoubt {
			t.Errorf("%+v %v", res, err)
		}
	})
}

// removed is a store in which others finish and remove all that is created.
type removed struct{ driver.Store }

func (removed) Update(context.Context, driver.Version, *driver.Record) error { return driver.ErrStale }

func (removed) Load(context.Context, string) (*driver.Record, error) { return nil, driver.ErrNotFound }
