package client_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/client"
	"github.com/bedrock-go/bedrock/server"
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

// twoLives is an inspector of an ID that was removed and used again while a watcher was away: its
// second life has come to the revision that the first was seen in.
type twoLives struct {
	txn.Inspector
	watches atomic.Int64
}

func (l *twoLives) Watch(context.Context, string) iter.Seq2[*txn.Transaction, error] {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	d := txn.Definition{ID: "x", Mode: "saga", Branches: []txn.Branch{{ID: "a", Do: "echo"}}}
	first := &txn.Transaction{Definition: d, Status: txn.Running, Created: began, Revision: 2}
	second := &txn.Transaction{
		Definition: d, Status: txn.Committed, Revision: 2,
		Created: began.Add(time.Hour), Finished: began.Add(time.Hour),
	}
	return func(yield func(*txn.Transaction, error) bool) {
		if l.watches.Add(1) == 1 {
			yield(first, nil)
			panic(http.ErrAbortHandler) // the connection breaks
		}
		yield(second, nil)
	}
}

// TestWatchTakesASecondLifeForTheFirst: the end of an ID that is used again was not shown, and the
// watch began anew for ever.
func TestWatchTakesASecondLifeForTheFirst(t *testing.T) {
	h, err := server.New(server.Services{Coordinator: instant{}, Inspector: new(twoLives)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := dial(t, serve(t, h).url(), nil)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var last *txn.Transaction
	for found, err := range c.Watch(ctx, "x") {
		if err != nil {
			t.Fatal(err)
		}
		last = found
	}
	if last == nil || last.Status != txn.Committed {
		t.Errorf("the end was not seen: %+v", last)
	}
}
