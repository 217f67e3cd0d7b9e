package client_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/txn"
)

// firstError is the first error a watch yields.
func firstError(seq iter.Seq2[*txn.Transaction, error]) error {
	for _, err := range seq {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestWatchUntilFinal(t *testing.T) {
	c := setup(t, parts())
	id, err := c.Begin(t.Context(), txn.Definition{Mode: "tcc", Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	var seen []txn.Status
	for found, err := range c.Watch(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		if seen = append(seen, found.Status); found.Status == txn.Open {
			if err := c.RollBack(t.Context(), id, "test"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(seen) < 2 || seen[0] != txn.Open || seen[len(seen)-1] != txn.RolledBack {
		t.Errorf("seen %v", seen)
	}
}

func TestWatchOfNobody(t *testing.T) {
	c := setup(t, parts())
	if err := firstError(c.Watch(t.Context(), "nobody")); !errors.Is(err, txn.ErrNotFound) {
		t.Errorf("error %v", err)
	}
}

func TestWatchEndsEarly(t *testing.T) {
	c := setup(t, parts())
	id, err := c.Begin(t.Context(), txn.Definition{Mode: "tcc", Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	for range c.Watch(t.Context(), id) {
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	for found, err := range c.Watch(ctx, id) {
		if n++; n == 1 && found != nil {
			cancel()
		} else if !errors.Is(err, context.Canceled) {
			t.Errorf("then %v, error %v", found, err)
		}
	}
	cancel()
	if n != 2 {
		t.Errorf("%d results, want the transaction and the end", n)
	}
}

// TestWatchSurvivesARestart: nothing is shown twice, and the end is not missed.
func TestWatchSurvivesARestart(t *testing.T) {
	co := engine(t, parts())
	s := serve(t, handler(t, co, nil))
	c := dial(t, s.url(), nil)
	id, err := c.Begin(t.Context(), txn.Definition{Mode: "tcc", Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	revisions := map[int64]bool{}
	var last txn.Status
	for found, err := range c.Watch(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		if revisions[found.Revision] {
			t.Errorf("revision %d is shown twice", found.Revision)
		}
		if len(revisions) == 0 {
			s.end()
			s.start()
			time.AfterFunc(50*time.Millisecond, func() { _ = co.RollBack(context.Background(), id, "test") })
		}
		revisions[found.Revision], last = true, found.Status
	}
	if last != txn.RolledBack {
		t.Errorf("last seen %s", last)
	}
}

func TestWatchGivesUp(t *testing.T) {
	s := serve(t, handler(t, engine(t, parts()), nil))
	s.end()
	c := dial(t, s.url(), &client.Options{Patience: 30 * time.Millisecond})
	if err := firstError(c.Watch(t.Context(), "x")); !errors.Is(err, txn.ErrUnavailable) {
		t.Errorf("error %v", err)
	}
}
