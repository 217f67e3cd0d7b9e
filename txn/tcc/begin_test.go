package tcc_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/memstore"
	"github.com/bedrock-go/bedrock/txn/tcc"
)

// diary is what participants were told, as branch:operation.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) write(_ context.Context, call txn.Call) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, call.Branch+":"+call.Op)
	return nil, nil
}

func (d *diary) sorted() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(slices.Values(d.lines))
}

// inBubble runs a test against the real engine, in virtual time.
func inBubble(t *testing.T, test func(t *testing.T, co *coord.Coordinator, d *diary)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &diary{}
		store := memstore.New(nil)
		co, err := coord.New(store, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := co.Register("tell", d.write); err != nil {
			t.Fatal(err)
		}
		if err := co.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		test(t, co, d)
		if err := co.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		store.Close()
	})
}

func branch(id string) tcc.Branch { return tcc.Branch{ID: id, Confirm: "tell", Cancel: "tell"} }

func ok(context.Context) error { return nil }

var errFull = errors.New("no seat left")

// TestTheDeadlineToldIsNotTheEarlierOne: whoever lets go at the deadline that he was told
// must not let go of what can still be committed.
func TestTheDeadlineToldIsNotTheEarlierOne(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, _ *diary) {
		ctx := t.Context()
		tx, err := tcc.Begin(ctx, &faraway{co}, "trip", &tcc.Options{Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		err = tx.Try(ctx, branch("flight"), func(ctx context.Context) error {
			call, _ := txn.CallFrom(ctx)
			if stored, err := co.Get(ctx, tx.ID()); err != nil || call.Deadline.Before(stored.Deadline) {
				t.Errorf("told %v, and it can be committed until %+v (%v)", call.Deadline, stored, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// faraway is a coordinator that a request takes a while to.
type faraway struct{ txn.Coordinator }

func (f *faraway) Begin(ctx context.Context, d txn.Definition) (string, error) {
	time.Sleep(time.Second)
	return f.Coordinator.Begin(ctx, d)
}

func TestCommit(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, d *diary) {
		ctx := t.Context()
		tx, err := tcc.Begin(ctx, co, "trip", &tcc.Options{
			ID: "trip-1", Payload: 1, Headers: map[string]string{"tenant": "7"},
		})
		if err != nil || tx.ID() != "trip-1" {
			t.Fatal(tx, err)
		}
		err = tx.Try(ctx, branch("flight"), func(ctx context.Context) error {
			call, _ := txn.CallFrom(ctx)
			want := txn.Call{
				Transaction: "trip-1", Branch: "flight", Op: "try", Mode: "tcc", Attempt: 1,
				Headers: map[string]string{"tenant": "7"}, Deadline: call.Deadline,
			}
			if diff := cmp.Diff(want, call); diff != "" {
				t.Error(diff)
			}
			if end, _ := ctx.Deadline(); !end.Equal(call.Deadline) || time.Until(end) != tcc.DefaultTimeout {
				t.Errorf("the try ends at %v, the transaction at %v", end, call.Deadline)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := tx.Assured(ctx, "mail", "tell", "hello"); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(ctx); err != nil {
			t.Fatal(err)
		}
		if res, err := tx.Wait(ctx); err != nil || res.Outcome != txn.Committed {
			t.Errorf("%+v, %v", res, err)
		}
		synctest.Wait()
		if diff := cmp.Diff([]string{"flight:confirm", "mail:deliver"}, d.sorted()); diff != "" {
			t.Error(diff)
		}
		if err := tx.Cancel(ctx, "too late"); !errors.Is(err, txn.ErrDecided) {
			t.Errorf("cancel after commit: %v", err)
		}
	})
}

// A caller that falls silent loses its tries, whether or not they were made.
func TestExpiry(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, d *diary) {
		ctx := t.Context()
		tx, err := tcc.Begin(ctx, co, "trip", &tcc.Options{Timeout: 5 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		err = tx.Try(ctx, branch("flight"), func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a try that hangs: %v", err)
		}
		res, err := tx.Wait(ctx)
		rolledBack, _ := errors.AsType[*txn.RolledBackError](err)
		if res.Outcome != txn.RolledBack || rolledBack == nil || rolledBack.Reason != "not decided in time" {
			t.Errorf("%+v, %v", res, err)
		}
		if diff := cmp.Diff([]string{"flight:cancel"}, d.sorted()); diff != "" {
			t.Error(diff)
		}
		if err := tx.Commit(ctx); !errors.Is(err, txn.ErrDecided) {
			t.Errorf("commit after expiry: %v", err)
		}
		if err := tx.Try(ctx, branch("late"), ok); !errors.Is(err, txn.ErrDecided) ||
			!strings.HasPrefix(err.Error(), "enlist late: ") {
			t.Errorf("try after expiry: %v", err)
		}
	})
}

// A branch that nobody could be told of is not tried.
func TestTryNeedsEnlisting(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, _ *diary) {
		ctx := t.Context()
		tx, err := tcc.Begin(ctx, co, "trip", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range []tcc.Branch{branch("a b"), {ID: "nobody"}, {ID: "a", Confirm: "tell", Payload: math.NaN()}} {
			err := tx.Try(ctx, b, func(context.Context) error {
				t.Errorf("%s was tried", b.ID)
				return nil
			})
			if err == nil {
				t.Errorf("%s was accepted", b.ID)
			}
		}
		if err := tx.Assured(ctx, "mail", "", nil); err == nil {
			t.Error("an assured branch without a target was accepted")
		}
		if err := tx.Assured(ctx, "mail", "tell", math.NaN()); err == nil {
			t.Error("a payload that is none was accepted")
		}
		if err := tx.Cancel(ctx, "enough"); err != nil {
			t.Error(err)
		}
	})
}

// A participant adds branches below its own, and they share its fate.
func TestJoin(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, d *diary) {
		hotel := func(ctx context.Context) error { // may be another service
			call, _ := txn.CallFrom(ctx)
			s := tcc.Join(co, call)
			return errors.Join(s.Try(ctx, branch("room"), ok), s.Below("meals").Try(ctx, branch("dinner"), ok))
		}
		_, err := tcc.Do(t.Context(), co, "trip", func(ctx context.Context, tx *tcc.Transaction) error {
			return tx.Try(ctx, branch("hotel"), hotel)
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"hotel/meals/dinner:confirm", "hotel/room:confirm", "hotel:confirm"}
		if diff := cmp.Diff(want, d.sorted()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestDoCommits(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, d *diary) {
		res, err := tcc.Do(t.Context(), co, "trip", func(ctx context.Context, tx *tcc.Transaction) error {
			return errors.Join(tx.Try(ctx, branch("a"), ok), tx.Try(ctx, branch("b"), ok))
		}, nil)
		if err != nil || res.Outcome != txn.Committed {
			t.Errorf("%+v, %v", res, err)
		}
		if diff := cmp.Diff([]string{"a:confirm", "b:confirm"}, d.sorted()); diff != "" {
			t.Error(diff)
		}
	})
}

// The error of Do matches what the work returned and what became of the
// transaction, and tells each once.
func TestDoCancels(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, d *diary) {
		res, err := tcc.Do(t.Context(), co, "trip", func(ctx context.Context, tx *tcc.Transaction) error {
			return errors.Join(tx.Try(ctx, branch("a"), ok),
				tx.Try(ctx, branch("b"), func(context.Context) error { return errFull }))
		}, &tcc.Options{ID: "trip-1"})
		rolledBack, _ := errors.AsType[*txn.RolledBackError](err)
		if res.Outcome != txn.RolledBack || rolledBack == nil || !errors.Is(err, errFull) {
			t.Errorf("%+v, %v", res, err)
		}
		if got, want := err.Error(), "transaction trip-1 was rolled back: try b: no seat left"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if diff := cmp.Diff([]string{"a:cancel", "b:cancel"}, d.sorted()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestDoCancelsOnPanic(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, d *diary) {
		func() {
			defer func() {
				if p := recover(); p != "ouch" {
					t.Errorf("recovered %v", p)
				}
			}()
			_, _ = tcc.Do(t.Context(), co, "trip", func(ctx context.Context, tx *tcc.Transaction) error {
				if err := tx.Try(ctx, branch("a"), ok); err != nil {
					t.Error(err)
				}
				panic("ouch")
			}, nil)
		}()
		synctest.Wait()
		if diff := cmp.Diff([]string{"a:cancel"}, d.sorted()); diff != "" {
			t.Error(diff)
		}
	})
}

// A caller that leaves still lets go, and does not claim to know the end.
func TestDoCancelsForCallersThatLeave(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, d *diary) {
		ctx, leave := context.WithCancel(t.Context())
		res, err := tcc.Do(ctx, co, "trip", func(ctx context.Context, tx *tcc.Transaction) error {
			if err := tx.Try(ctx, branch("a"), ok); err != nil {
				return err
			}
			leave()
			return ctx.Err()
		}, nil)
		inDoubt, _ := errors.AsType[*txn.InDoubtError](err)
		if res.Outcome != txn.InDoubt || inDoubt == nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%+v, %v", res, err)
		}
		synctest.Wait()
		if diff := cmp.Diff([]string{"a:cancel"}, d.sorted()); diff != "" {
			t.Error(diff)
		}
	})
}

// Work that outlives its transaction is told that it was rolled back, not that it
// was committed.
func TestDoTooLate(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, d *diary) {
		res, err := tcc.Do(t.Context(), co, "trip", func(ctx context.Context, tx *tcc.Transaction) error {
			err := tx.Try(ctx, branch("a"), ok)
			time.Sleep(2 * time.Second)
			return err
		}, &tcc.Options{Timeout: time.Second})
		if _, ok := errors.AsType[*txn.RolledBackError](err); !ok || res.Outcome != txn.RolledBack {
			t.Errorf("%+v, %v", res, err)
		}
		if diff := cmp.Diff([]string{"a:cancel"}, d.sorted()); diff != "" {
			t.Error(diff)
		}
	})
}

// Work that commits by itself and fails afterwards is told both.
func TestDoFailsAfterCommit(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, _ *diary) {
		res, err := tcc.Do(t.Context(), co, "trip", func(ctx context.Context, tx *tcc.Transaction) error {
			return errors.Join(tx.Try(ctx, branch("a"), ok), tx.Commit(ctx), errFull)
		}, nil)
		if res.Outcome != txn.Committed || !errors.Is(err, errFull) {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

func TestBeginRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, _ *diary) {
		for _, opts := range []*tcc.Options{{ID: "a b"}, {Timeout: -1}, {Payload: math.NaN()}} {
			work := func(context.Context, *tcc.Transaction) error {
				t.Error("work was done")
				return nil
			}
			_, err := tcc.Do(t.Context(), co, "trip", work, opts)
			if _, ok := errors.AsType[*txn.InvalidError](err); !ok {
				t.Errorf("%+v: %v", opts, err)
			}
		}
	})
}

// broken is a coordinator that has the transaction and then cannot be reached.
type broken struct{ txn.Coordinator }

func (b broken) Begin(context.Context, txn.Definition) (string, error) { return "t", nil }
func (b broken) Commit(context.Context, string) error                  { return txn.ErrUnavailable }
func (b broken) RollBack(context.Context, string, string) error        { return txn.ErrUnavailable }

// A decision that nobody has taken down is not told as one.
func TestDoWithoutCoordinator(t *testing.T) {
	for name, failure := range map[string]error{"commit": nil, "cancel": errFull} {
		t.Run(name, func(t *testing.T) {
			res, err := tcc.Do(t.Context(), broken{}, "trip",
				func(context.Context, *tcc.Transaction) error { return failure }, nil)
			inDoubt, _ := errors.AsType[*txn.InDoubtError](err)
			if res.Outcome != txn.InDoubt || inDoubt == nil || !errors.Is(err, txn.ErrUnavailable) {
				t.Errorf("%+v, %v", res, err)
			}
			if failure != nil && (!errors.Is(err, failure) || !strings.Contains(err.Error(), failure.Error())) {
				t.Errorf("the work's error is lost in %v", err)
			}
		})
	}
}

// TestNothingIsCalled: nobody would complete what was begun for it.
func TestNothingIsCalled(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, _ *diary) {
		res, err := tcc.Do(t.Context(), co, "trip", nil, nil)
		if _, ok := errors.AsType[*txn.InvalidError](err); !ok || res.Outcome != "" {
			t.Errorf("%+v, %v", res, err)
		}
		tx, err := tcc.Begin(t.Context(), co, "trip", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := errors.AsType[*txn.InvalidError](tx.Try(t.Context(), branch("a"), nil)); !ok {
			t.Error("a try of nothing is no error")
		}
		if found, err := co.Get(t.Context(), tx.ID()); err != nil || len(found.Branches) > 0 {
			t.Errorf("%+v, %v", found, err)
		}
		page, err := co.List(t.Context(), txn.Query{})
		if err != nil || len(page.Transactions) != 1 {
			t.Errorf("%d transactions, %v", len(page.Transactions), err)
		}
	})
}

// Several branches can be tried at once.
func TestTriesAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, co *coord.Coordinator, d *diary) {
		res, err := tcc.Do(t.Context(), co, "trip", func(ctx context.Context, tx *tcc.Transaction) error {
			var all sync.WaitGroup
			errs := make([]error, 8)
			for i := range errs {
				all.Go(func() { errs[i] = tx.Try(ctx, branch(fmt.Sprint("b", i)), ok) })
			}
			all.Wait()
			return errors.Join(errs...)
		}, nil)
		if err != nil || res.Outcome != txn.Committed || len(d.sorted()) != 8 {
			t.Errorf("%+v, %v, %v", res, err, d.sorted())
		}
	})
}
