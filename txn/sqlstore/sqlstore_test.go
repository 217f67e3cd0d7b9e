package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a database that does with batches what a test says.
type fake struct {
	mu      sync.Mutex
	batches [][]string // the IDs of each, in their order

	write func(ctx context.Context, ids []string) (refused []string, err error)
	judge func(error) sqlstore.Verdict
}

func (f *fake) Clauses() sqlstore.Clauses { return sqlstore.Clauses{Kind: "fake"} }

func (f *fake) Now(context.Context, sqlstore.Querier) (time.Time, error) { return time.Now(), nil }

func (f *fake) Alone(context.Context, string, func(sqlstore.Querier) error) error { return nil }

func (f *fake) Migrations() fs.FS { return fstest.MapFS{} }

func (f *fake) Judge(err error) sqlstore.Verdict {
	if f.judge == nil {
		return sqlstore.Refused
	}
	return f.judge(err)
}

func (f *fake) Write(ctx context.Context, _ string, b sqlstore.Batch) ([]string, error) {
	var ids []string
	for _, rec := range b.Creates {
		ids = append(ids, rec.ID)
	}
	for _, u := range b.Updates {
		ids = append(ids, u.ID)
	}
	f.mu.Lock()
	f.batches = append(f.batches, ids)
	f.mu.Unlock()
	if f.write == nil {
		return nil, nil
	}
	return f.write(ctx, ids)
}

func (f *fake) seen() [][]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.batches)
}

// open opens a store with one writer.
func open(t *testing.T, f *fake) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.Open(t.Context(), f, sqlstore.Databases{}, &sqlstore.Options{Writers: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestOptionsThatMakeNoSenseAreAccepted by a store of any kind.
func TestOptionsThatMakeNoSenseAreAccepted(t *testing.T) {
	for _, test := range []struct {
		field string
		opts  sqlstore.Options
	}{
		{"table", sqlstore.Options{Table: "x y"}},
		{"writers", sqlstore.Options{Writers: -1}},
		{"timeout", sqlstore.Options{Timeout: 30}},
		{"timeout", sqlstore.Options{Timeout: -time.Second}},
	} {
		_, err := sqlstore.Open(t.Context(), &fake{}, sqlstore.Databases{}, &test.opts)
		if wrong, ok := errors.AsType[*input.Error](err); !ok || wrong.Field != test.field {
			t.Errorf("%s: %v", test.field, err)
		}
	}
}

func record(id string) *driver.Record { return &driver.Record{ID: id, Status: driver.Running} }

// gate holds the first batch until it is opened, so that a second one gathers.
type gate struct {
	once sync.Once
	free chan struct{}
}

func newGate() *gate { return &gate{free: make(chan struct{})} }

func (g *gate) hold() { g.once.Do(func() { <-g.free }) }

// gathered has a batch written of one record, then another of all those named
// by the calls, and returns what each of them got.
func gathered(t *testing.T, s *sqlstore.Store, g *gate, calls ...func() error) []error {
	t.Helper()
	first := make(chan error, 1)
	go func() { first <- s.Create(t.Context(), record("first")) }()
	synctest.Wait()
	errs := make([]error, len(calls))
	var group sync.WaitGroup
	for i, call := range calls {
		group.Go(func() { errs[i] = call() })
		synctest.Wait() // so that they queue in their order
	}
	close(g.free)
	group.Wait()
	if err := <-first; err != nil {
		t.Fatalf("the first batch: %v", err)
	}
	return errs
}

func creating(t *testing.T, s *sqlstore.Store, ids ...string) []func() error {
	t.Helper()
	var calls []func() error
	for _, id := range ids {
		calls = append(calls, func() error { return s.Create(t.Context(), record(id)) })
	}
	return calls
}

func TestWritesThatMeetShareACommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		f := &fake{write: func(context.Context, []string) ([]string, error) { g.hold(); return nil, nil }}
		s := open(t, f)
		for _, err := range gathered(t, s, g, creating(t, s, "c", "a", "b")...) {
			if err != nil {
				t.Error(err)
			}
		}
		if got, want := fmt.Sprint(f.seen()), "[[first] [a b c]]"; got != want {
			t.Errorf("batches %s, want %s", got, want)
		}
		s.Close()
	})
}

func TestPoisonousRowFailsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		f := &fake{write: func(_ context.Context, ids []string) ([]string, error) {
			g.hold()
			if slices.Contains(ids, "poison") {
				return nil, sqlstore.Unwritten(errors.New("row is too large"))
			}
			return nil, nil
		}}
		s := open(t, f)
		ids := []string{"a", "b", "c", "poison", "q", "r", "s"}
		for i, err := range gathered(t, s, g, creating(t, s, ids...)...) {
			if (err != nil) != (ids[i] == "poison") {
				t.Errorf("%s: %v", ids[i], err)
			}
		}
		s.Close()
	})
}

func TestRefusalIsToldToTheRightWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		f := &fake{
			write: func(context.Context, []string) ([]string, error) { g.hold(); return []string{"b", "d"}, nil },
		}
		s := open(t, f)
		rec := record("d")
		calls := append(creating(t, s, "a", "b"),
			func() error { return s.Update(t.Context(), driver.Version{Revision: 3}, record("c")) },
			func() error { return s.Update(t.Context(), driver.Version{Revision: 3}, rec) })
		errs := gathered(t, s, g, calls...)
		if errs[0] != nil || !errors.Is(errs[1], driver.ErrExists) || errs[2] != nil ||
			!errors.Is(errs[3], driver.ErrStale) {
			t.Errorf("got %v", errs)
		}
		if rec.Revision != 0 {
			t.Errorf("the refused writer's record has revision %d", rec.Revision)
		}
		s.Close()
	})
}

// TestUnknownOutcomeIsNotTriedAgain: a batch whose commit got no answer may be
// there. Writing it again would be refused as stale, which is not what happened.
func TestUnknownOutcomeIsNotTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		lost := errors.New("connection lost")
		f := &fake{
			judge: func(error) sqlstore.Verdict { return sqlstore.Broken },
			write: func(_ context.Context, ids []string) ([]string, error) {
				g.hold()
				if ids[0] == "first" {
					return nil, nil
				}
				return nil, lost
			},
		}
		s := open(t, f)
		for _, err := range gathered(t, s, g, creating(t, s, "a", "b")...) {
			if !errors.Is(err, lost) || errors.Is(err, driver.ErrUnavailable) {
				t.Errorf("got %v, want the error, and not that nothing was written", err)
			}
		}
		if n := len(f.seen()); n != 2 {
			t.Errorf("%d batches, want 2", n)
		}
		s.Close()
	})
}

func TestUnreachableStoreIsUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{
			judge: func(error) sqlstore.Verdict { return sqlstore.Broken },
			write: func(context.Context, []string) ([]string, error) {
				return nil, sqlstore.Unwritten(errors.New("connection refused"))
			},
		}
		s := open(t, f)
		if err := s.Create(t.Context(), record("a")); !errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("got %v, want ErrUnavailable", err)
		}
		s.Close()
	})
}

func TestCollisionIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n int
		f := &fake{
			judge: func(error) sqlstore.Verdict { return sqlstore.Deadlocked },
			write: func(context.Context, []string) ([]string, error) {
				if n++; n < 4 {
					return nil, sqlstore.Unwritten(errors.New("deadlock"))
				}
				return nil, nil
			},
		}
		s := open(t, f)
		if err := s.Create(t.Context(), record("a")); err != nil {
			t.Error(err)
		}
		n = -1000
		if err := s.Create(t.Context(), record("b")); err == nil || errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("got %v, want the collision", err)
		}
		s.Close()
	})
}

// TestOneIDTwiceInABatch: two writers of one version are told apart by the
// database, which needs them one after the other.
func TestOneIDTwiceInABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		f := &fake{write: func(context.Context, []string) ([]string, error) { g.hold(); return nil, nil }}
		s := open(t, f)
		gathered(t, s, g, creating(t, s, "a", "b", "a", "c", "a")...)
		if got, want := fmt.Sprint(f.seen()), "[[first] [a b] [a c] [a]]"; got != want {
			t.Errorf("batches %s, want %s", got, want)
		}
		s.Close()
	})
}

func TestWhoLeavesBeforeItsBatchIsNotWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		f := &fake{write: func(context.Context, []string) ([]string, error) { g.hold(); return nil, nil }}
		s := open(t, f)
		first := make(chan error, 1)
		go func() { first <- s.Create(t.Context(), record("first")) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := s.Create(ctx, record("gone"))
		if !errors.Is(err, driver.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want ErrUnavailable and the end of the context", err)
		}
		close(g.free)
		if err := errors.Join(<-first, s.Create(t.Context(), record("last"))); err != nil {
			t.Error(err)
		}
		if got, want := fmt.Sprint(f.seen()), "[[first] [last]]"; got != want {
			t.Errorf("batches %s, want %s", got, want)
		}
		s.Close()
	})
}

func TestBatchIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		f := &fake{write: func(context.Context, []string) ([]string, error) { g.hold(); return nil, nil }}
		s := open(t, f)
		var calls []func() error
		for i := range 5 {
			rec := record(fmt.Sprint("r", i))
			rec.State = []byte(strings.Repeat("x", 400<<10))
			calls = append(calls, func() error { return s.Create(t.Context(), rec) })
		}
		gathered(t, s, g, calls...)
		if got, want := fmt.Sprint(f.seen()), "[[first] [r0 r1] [r2 r3] [r4]]"; got != want {
			t.Errorf("batches %s, want %s", got, want)
		}
		s.Close()
	})
}

func TestLongFieldIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s := open(t, f)
		err := s.Create(t.Context(), record(strings.Repeat("x", 256)))
		if err == nil || !strings.Contains(err.Error(), "ID of 256 bytes: at most 255 fit") {
			t.Errorf("got %v", err)
		}
		if n := len(f.seen()); n != 0 {
			t.Errorf("%d batches were written", n)
		}
		s.Close()
	})
}

// TestDatabaseThatHangs: callers leave when they want to, the batch is given up
// in time, and Close does not wait for it.
func TestDatabaseThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{
			write: func(ctx context.Context, _ []string) ([]string, error) { <-ctx.Done(); return nil, ctx.Err() },
		}
		s := open(t, f)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		err := s.Create(ctx, record("a"))
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, driver.ErrUnavailable) ||
			time.Since(start) != time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		if err = s.Create(t.Context(), record("b")); err == nil || time.Since(start) != 60*time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		left := make(chan error)
		go func() { left <- s.Create(t.Context(), record("c")) }()
		synctest.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-left; err == nil || errors.Is(err, driver.ErrClosed) {
			t.Errorf("got %v, want an error that leaves the outcome open", err)
		}
		if err := s.Create(t.Context(), record("d")); !errors.Is(err, driver.ErrClosed) {
			t.Errorf("got %v, want ErrClosed", err)
		}
	})
}
