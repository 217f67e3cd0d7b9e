package txntest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// abandoning: callers leave.
func abandoning() []behaviour {
	return []behaviour{
		{"EndedContextIsIgnored", endedContextIsIgnored},
		{"UnsentWriteIsApplied", unsentWriteIsApplied},
	}
}

// calls are all methods, of which the writing ones would change the record a.
func calls(s driver.Store, rec *driver.Record) map[string]func(context.Context) error {
	all := map[string]func(context.Context) error{
		"create": func(ctx context.Context) error { return s.Create(ctx, running("new")) },
		"load":   func(ctx context.Context) error { _, err := s.Load(ctx, rec.ID); return err },
		"update": func(ctx context.Context) error { return s.Update(ctx, rec.Version(), rec.Clone()) },
		"claim": func(ctx context.Context) error {
			_, err := s.Claim(ctx, driver.Claim{Owner: owner, Lease: time.Hour, Limit: 1})
			return err
		},
		"clock": func(ctx context.Context) error { _, err := s.Now(ctx); return err },
		"list":  func(ctx context.Context) error { _, err := s.List(ctx, driver.Query{}); return err },
		"delete": func(ctx context.Context) error {
			_, err := s.Delete(ctx, []driver.Ref{{ID: "over", Version: driver.Version{Revision: 1}}})
			return err
		},
	}
	if counter, ok := s.(driver.Counter); ok {
		all["count"] = func(ctx context.Context) error { _, err := counter.Count(ctx); return err }
	}
	return all
}

func endedContextIsIgnored(e *env) {
	rec := dueAt("a", e.now().Add(-time.Minute))
	e.create(rec, final("over"))
	ctx, cancel := context.WithCancel(e.ctx())
	cancel()
	for name, call := range calls(e.store, rec) {
		if err := call(ctx); !errors.Is(err, context.Canceled) {
			e.Errorf("%s with a context that is over: want context.Canceled, got %v", name, err)
		}
	}
	e.same("the record after calls that were over before they began", e.load("a"), rec)
	e.selects(driver.Query{}, "a", "over")
}

// unsentWriteIsApplied: writers leave at every moment. What they were told must
// be true: success means written, stale and unavailable mean not written, and
// anything else leaves open which.
func unsentWriteIsApplied(e *env) {
	const writers, each = 8, 40
	failures := make(chan error, writers)
	together(writers, func(i int) {
		id := fmt.Sprint("r", i)
		failures <- e.leaveOften(e.seat(i), id, each)
	})
	for range writers {
		if err := <-failures; err != nil {
			e.Error(err)
		}
	}
}

// leaveOften updates a record of its own again and again, for less and less
// time.
func (e *env) leaveOften(s driver.Store, id string, times int) error {
	rec := running(id)
	if err := s.Create(e.ctx(), rec); err != nil {
		return err
	}
	for i := range times {
		rec.State = fmt.Appendf(nil, "write %d", i)
		was := rec.Version()
		ctx, cancel := context.WithTimeout(e.ctx(), time.Duration(times-i)*20*time.Microsecond)
		err := s.Update(ctx, was, rec.Clone())
		cancel()
		next, failure := e.verify(s, was, rec, err)
		if failure != nil {
			return failure
		}
		rec = next
	}
	return nil
}

// verify compares what a write said with what is stored. It returns the record
// to go on with.
func (e *env) verify(s driver.Store, was driver.Version, wrote *driver.Record, said error) (*driver.Record, error) {
	seen, next, err := e.readSettled(s, wrote.ID)
	if err != nil {
		return nil, err
	}
	applied := seen.Revision == was.Revision+1 && string(seen.State) == string(wrote.State)
	switch {
	case !applied && seen.Revision != was.Revision:
		return nil, fmt.Errorf("%q: after a write of revision %d it is %d: %q", seen.ID, was.Revision+1, seen.Revision,
			seen.State)
	case !applied && said == nil:
		return nil, fmt.Errorf("%q: a write that succeeded is lost", seen.ID)
	case applied && (errors.Is(said, driver.ErrUnavailable) || errors.Is(said, driver.ErrStale)):
		return nil, fmt.Errorf("%q: a write that did not happen is there: %w", seen.ID, said)
	}
	return next, nil
}

// readSettled reads a record when nothing that was left behind can still change it:
// it raises the epoch, so that such a write is refused.
func (e *env) readSettled(s driver.Store, id string) (seen, next *driver.Record, err error) {
	for {
		seen, err = s.Load(e.ctx(), id)
		if err != nil {
			return nil, nil, err
		}
		next = seen.Clone()
		next.Epoch++
		if err = s.Update(e.ctx(), seen.Version(), next); !errors.Is(err, driver.ErrStale) {
			return seen, next, err
		}
	}
}
