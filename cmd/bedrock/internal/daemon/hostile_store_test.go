package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// fault is how a store goes wrong: call does what was asked for.
type fault func(ctx context.Context, call func() error) error

var errDeadlock = errors.New("error 1213 (40001): deadlock found when trying to get lock; try restarting transaction")

// faults are the ways a store goes wrong.
func faults() map[string]fault {
	var calls int
	var mu sync.Mutex
	return map[string]fault{
		"is gone": func(context.Context, func() error) error { return fmt.Errorf("dial: %w", driver.ErrUnavailable) },
		"fails":   func(context.Context, func() error) error { return errors.New("disk full") },
		"hangs":   func(ctx context.Context, _ func() error) error { <-ctx.Done(); return ctx.Err() },
		"fails after executing": func(_ context.Context, call func() error) error {
			_ = call()
			return errors.New("connection reset by peer")
		},
		"times out after executing": func(ctx context.Context, call func() error) error {
			_ = call()
			<-ctx.Done()
			return ctx.Err()
		},
		"deadlocks": func(_ context.Context, call func() error) error {
			mu.Lock()
			calls++
			unlucky := calls%3 != 0
			mu.Unlock()
			if unlucky {
				return errDeadlock
			}
			return call()
		},
	}
}

// ill is a store that goes wrong while it has a fault, and a witness of what was
// really written.
type ill struct {
	driver.Store

	mu     sync.Mutex
	fault  fault
	hit    int
	sides  map[string]txn.Outcome // which way a transaction was decided
	final  map[string]bool
	breach []string
}

func newIll(store driver.Store) *ill {
	return &ill{Store: store, sides: make(map[string]txn.Outcome), final: make(map[string]bool)}
}

func (s *ill) set(f fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

func (s *ill) do(ctx context.Context, call func() error) error {
	s.mu.Lock()
	f := s.fault
	if f != nil {
		s.hit++
	}
	s.mu.Unlock()
	if f == nil {
		return call()
	}
	return f(ctx, call)
}

// wrote looks at a record that is in the store now.
func (s *ill) wrote(rec *driver.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	side := sideOf(rec.Status)
	if s.final[rec.ID] {
		s.breach = append(s.breach, fmt.Sprintf("%s was written as %s after its end", rec.ID, rec.Status))
	}
	if was := s.sides[rec.ID]; was != "" && was != side {
		s.breach = append(s.breach, fmt.Sprintf("%s was decided %s and then %s", rec.ID, was, rec.Status))
	}
	s.sides[rec.ID], s.final[rec.ID] = side, rec.Status.Final()
}

func sideOf(s driver.Status) txn.Outcome {
	switch s {
	case txn.Committing, txn.Committed:
		return txn.Committed
	case txn.RollingBack, txn.RolledBack:
		return txn.RolledBack
	default:
		return ""
	}
}

func (s *ill) Create(ctx context.Context, rec *driver.Record) error {
	own := *rec
	err := s.do(ctx, func() error {
		err := s.Store.Create(ctx, &own)
		if err == nil {
			s.wrote(&own)
		}
		return err
	})
	if err == nil {
		rec.Revision = own.Revision
	}
	return err
}

func (s *ill) Update(ctx context.Context, was driver.Version, rec *driver.Record) error {
	own := *rec
	err := s.do(ctx, func() error {
		err := s.Store.Update(ctx, was, &own)
		if err == nil {
			s.wrote(&own)
		}
		return err
	})
	if err == nil {
		rec.Revision = own.Revision
	}
	return err
}

func (s *ill) Load(ctx context.Context, id string) (rec *driver.Record, err error) {
	err = s.do(ctx, func() error {
		rec, err = s.Store.Load(ctx, id)
		return err
	})
	return rec, err
}

func (s *ill) Claim(ctx context.Context, c driver.Claim) (claimed driver.Claimed, err error) {
	var got driver.Claimed
	err = s.do(ctx, func() error {
		got, err = s.Store.Claim(ctx, c)
		return err
	})
	if err != nil {
		return driver.Claimed{}, err
	}
	return got, nil
}

// check says what went wrong, and whether anything could have.
func (s *ill) check(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.breach {
		t.Error(b)
	}
	if s.hit < 5 {
		t.Errorf("the store was asked %d times while it was ill", s.hit)
	}
}

// TestTheStoreIsIllForTwentySeconds: what was accepted before goes on after it, what
// comes meanwhile waits, and nothing is decided twice.
func TestTheStoreIsIllForTwentySeconds(t *testing.T) {
	for name, f := range faults() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newIll(memstore.New(nil))
				s := openVirtual(t, store)
				w := newWork(t, s)
				w.submit("before", 12)
				wait(1500 * time.Millisecond) // in the middle of their first calls
				store.set(f)
				w.submit("meanwhile", 12)
				wait(20 * time.Second)
				store.set(nil)
				w.submit("after", 3)
				w.finish(45 * time.Second)
				store.check(t)
			})
		})
	}
}

// TestAStoreThatStaysAway: whoever waits is told that nobody knows, in the time that
// is the limit for waiting.
func TestAStoreThatStaysAway(t *testing.T) {
	for name, asked := range map[string]string{
		"is gone": "unavailable", "hangs": "deadline_exceeded", "times out after executing": "deadline_exceeded",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newIll(memstore.New(nil))
				s := openVirtual(t, store)
				store.set(faults()[name])
				for _, body := range []struct{ procedure, text, code string }{
					{"Submit", submission(step(`"action": "demo.echo"`)), "unknown"},
					{"Begin", `{"definition": {"id": "begun", "mode": "tcc"}}`, "unknown"},
					{"Commit", `{"id": "begun"}`, asked},
					{"Get", `{"id": "hostile"}`, asked},
				} {
					began := time.Now()
					a := s.post(t.Context(), t, body.procedure, body.text)
					if took := time.Since(began); a.Code != body.code || took > 2*time.Minute {
						t.Errorf("%s: %d after %v: %.300s", body.procedure, a.status, took, a.body)
					}
				}
				store.set(nil)
			})
		})
	}
}

// work is transactions that are under way.
type work struct {
	t     *testing.T
	s     *site
	going sync.WaitGroup
	began time.Time

	mu   sync.Mutex
	want map[string]string // outcomes by ID
}

func newWork(t *testing.T, s *site) *work {
	return &work{t: t, s: s, began: time.Now(), want: make(map[string]string)}
}

// submit starts sagas and waits for them elsewhere. Every third is refused.
func (w *work) submit(name string, n int) {
	for i := range n {
		id, second, outcome := fmt.Sprintf("%s-%d", name, i), "demo.slow", "committed"
		if i%3 == 0 {
			second, outcome = "demo.refuse", "rolled-back"
		}
		w.mu.Lock()
		w.want[id] = outcome
		w.mu.Unlock()
		body := fmt.Sprintf(`{"definition": {"id": "%s", "mode": "saga", "steps": [
			{"id": "a", "action": "demo.slow", "compensate": "demo.echo"},
			{"id": "b", "action": "%s", "compensate": "demo.echo", "after": ["a"]}]}, "wait": true}`, id, second)
		w.going.Go(func() {
			a := w.s.post(w.t.Context(), w.t, "Submit", body)
			if a.status != http.StatusOK || a.Result.Outcome != outcome {
				w.t.Errorf("%s: %d %.300s, want %s", id, a.status, a.body, outcome)
			}
		})
	}
}

// finish waits for all of them, and looks them up.
func (w *work) finish(within time.Duration) {
	w.going.Wait()
	if took := time.Since(w.began); took > within {
		w.t.Errorf("took %v", took)
	}
	records, err := w.s.store.List(w.t.Context(), driver.Query{Limit: 1000})
	if err != nil || len(records) != len(w.want) {
		w.t.Errorf("%d records for %d transactions, %v", len(records), len(w.want), err)
	}
	for _, rec := range records {
		if string(rec.Status) != w.want[rec.ID] || rec.Parked != "" {
			w.t.Errorf("%s is %s, want %s; parked %q", rec.ID, rec.Status, w.want[rec.ID], rec.Parked)
		}
	}
}
