package coord_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// laborious is a store that takes a while to create a record, or fails to.
type laborious struct {
	driver.Store
	fails bool
}

func (s *laborious) Create(ctx context.Context, rec *driver.Record) error {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
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

// TestSubmittedBesideAFailure: whoever fails leaves no trace, and the other can try
// again.
func TestSubmittedBesideAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &laborious{Store: memstore.New(nil), fails: true}
		c := start(t, store, nil, transferParts())
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		first, second := submitBeside(ctx, t, c, transferAs("order-42"))
		if _, ok := errors.AsType[*txn.InDoubtError](first); !ok || !errors.Is(second, txn.ErrUnavailable) {
			t.Errorf("first %v, second %v", first, second)
		}
		store.fails = false
		if res, err := c.Run(t.Context(), transferAs("order-42")); err != nil {
			t.Errorf("%+v %v", res, err)
		}
	})
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
