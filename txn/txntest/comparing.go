package txntest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// comparing: a store does what the reference does, in any order of calls.
func comparing() []behaviour {
	return []behaviour{{"StoreDiffersFromTheReference", storeDiffersFromTheReference}}
}

// storeDiffersFromTheReference makes the same random calls to the store and to a
// memstore, and compares every answer.
func storeDiffersFromTheReference(e *env) {
	c := &comparison{
		env: e, random: rand.New(rand.NewPCG(20261121, 1)), now: e.now(),
		stores: [2]driver.Store{memstore.New(nil), e.store},
	}
	for c.step = range 400 {
		c.compareNext()
	}
}

const (
	// leased is the lease of every claim. What is due about that far ahead is so
	// by the clock of its own store.
	leased = time.Hour
	// people is how many records a comparison is about.
	people = 40
)

// comparison is a sequence of calls.
type comparison struct {
	*env
	random *rand.Rand
	now    time.Time
	stores [2]driver.Store
	step   int
}

func (c *comparison) compareNext() {
	c.Helper()
	switch n := c.random.IntN(20); {
	case n < 6:
		c.compareCreate()
	case n < 13:
		c.compareUpdate()
	case n < 15:
		c.compareClaim()
	case n < 17:
		c.compareList()
	case n < 18:
		c.compareDelete()
	case n < 19:
		c.compareCount()
	default:
		c.compareLoad(c.id())
	}
}

func (c *comparison) id() string { return fmt.Sprint("r", c.random.IntN(people)) }

// pick is one of several.
func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// vary gives a record other values. No two are due at the same time, so that the
// order of claims is certain.
func (c *comparison) vary(rec *driver.Record, seed uint64) {
	r := rand.New(rand.NewPCG(seed, uint64(c.step)))
	rec.Status = pick(r, driver.Open, driver.Running, driver.Running, driver.Committing, driver.RollingBack,
		driver.Committed, driver.InDoubt)
	rec.Parked = pick(r, "", "", "", "for a person")
	rec.Waits = pick(r, "", "", "pay", "stock")
	rec.Finished = time.Time{}
	if rec.Status.Final() {
		rec.Finished = dawn().Add(time.Duration(c.step) * time.Minute)
	}
	nth := time.Duration(c.step) * time.Millisecond
	rec.Due = pick(r, time.Time{}, c.now.Add(-time.Hour+nth), c.now.Add(-time.Minute-nth), c.now.Add(24*time.Hour-nth))
	rec.State = fmt.Appendf(nil, "state %d", c.step)
	rec.Spec = pick(r, nil, fmt.Appendf(nil, "spec %d", c.step))
}

// agree compares two answers.
func (c *comparison) agree(what string, answers [2]any, errs [2]error) {
	c.Helper()
	for _, class := range []error{driver.ErrExists, driver.ErrNotFound, driver.ErrStale} {
		if errors.Is(errs[0], class) != errors.Is(errs[1], class) {
			c.Fatalf("step %d, %s: the reference says %v, the store %v", c.step, what, errs[0], errs[1])
		}
	}
	if errs[0] == nil && errs[1] != nil {
		c.Fatalf("step %d, %s: %v", c.step, what, errs[1])
	}
	c.same(fmt.Sprintf("step %d, %s", c.step, what), answers[1], answers[0])
}

// plain makes records of two stores comparable.
func (c *comparison) plain(recs ...*driver.Record) []driver.Record {
	var all []driver.Record
	for _, rec := range recs {
		if rec == nil {
			continue
		}
		own := *rec
		if d := own.Due.Sub(c.now); d > leased/2 && d < 2*leased {
			own.Due = c.now.Add(leased)
		}
		all = append(all, own)
	}
	return all
}

// both makes a call to each store and compares the answers.
func (c *comparison) both(what string, call func(driver.Store) (any, error)) {
	c.Helper()
	var answers [2]any
	var errs [2]error
	for i, s := range c.stores {
		answers[i], errs[i] = call(s)
	}
	c.agree(what, answers, errs)
}

func (c *comparison) compareCreate() {
	c.Helper()
	rec := running(c.id())
	rec.Mode, rec.Name = pick(c.random, "saga", "tcc"), pick(c.random, "order", "refund")
	rec.Created = dawn().Add(time.Duration(c.random.IntN(5)) * time.Microsecond)
	c.vary(rec, 1)
	c.both("create "+rec.ID, func(s driver.Store) (any, error) {
		own := rec.Clone()
		err := s.Create(c.ctx(), own)
		return own.Revision, err
	})
}

// compareUpdate writes in the version stored, or, at times, in another.
func (c *comparison) compareUpdate() {
	c.Helper()
	same := driver.Version{}
	id, off := c.id(), pick(c.random, same, same, same, driver.Version{Revision: 1}, driver.Version{Epoch: 1},
		driver.Version{Created: 1})
	raise := pick[int64](c.random, 0, 0, 1)
	c.both("update "+id, func(s driver.Store) (any, error) {
		rec, err := s.Load(c.ctx(), id)
		if err != nil {
			rec = running(id)
		}
		was := rec.Version()
		c.vary(rec, 2)
		rec.Epoch += raise
		was.Revision, was.Epoch, was.Created = was.Revision-off.Revision, was.Epoch-off.Epoch, was.Created-off.Created
		err = s.Update(c.ctx(), was, rec)
		return rec.Revision, err
	})
	c.compareLoad(id)
}

func (c *comparison) compareLoad(id string) {
	c.Helper()
	c.both("load "+id, func(s driver.Store) (any, error) {
		rec, err := s.Load(c.ctx(), id)
		return c.plain(rec), err
	})
}

func (c *comparison) compareClaim() {
	c.Helper()
	claim := driver.Claim{
		Owner: fmt.Sprint("replica-", c.step), Lease: leased, Limit: 1 + c.random.IntN(6),
		Target: pick(c.random, "", "", "pay", "stock"),
	}
	if c.random.IntN(3) == 0 {
		claim.From = c.random.IntN(driver.Shards)
		claim.To = claim.From + 1 + c.random.IntN(driver.Shards-claim.From)
	}
	c.both(fmt.Sprintf("claim %+v", claim), func(s driver.Store) (any, error) {
		claimed, err := s.Claim(c.ctx(), claim)
		return c.plain(claimed.Records...), err
	})
}

func (c *comparison) compareList() {
	c.Helper()
	r := c.random
	q := driver.Query{
		Status: pick(r, nil, nil, []driver.Status{driver.Running, driver.Committed}, []driver.Status{driver.InDoubt}),
		Modes:  pick(r, nil, nil, []string{"tcc"}), Name: pick(r, "", "", "order"), Prefix: pick(r, "", "", "r1"),
		Parked: r.IntN(4) == 0, Limit: r.IntN(people), Brief: r.IntN(2) == 0,
	}
	if r.IntN(4) == 0 {
		q.FinishedBefore = dawn().Add(time.Duration(c.step/2) * time.Minute)
	}
	if r.IntN(2) == 0 {
		q.Before = driver.Cursor{Created: dawn().Add(time.Duration(r.IntN(5)) * time.Microsecond), ID: c.id()}
	}
	c.both(fmt.Sprintf("list %+v", q), func(s driver.Store) (any, error) {
		recs, err := s.List(c.ctx(), q)
		return c.plain(recs...), err
	})
}

// compareDelete deletes some records, not all of them final and not all in the
// version stored.
func (c *comparison) compareDelete() {
	c.Helper()
	var some []string
	for range 6 {
		some = append(some, c.id())
	}
	c.both(fmt.Sprint("delete ", some), func(s driver.Store) (any, error) {
		var refs []driver.Ref
		for i, id := range some {
			if rec, err := s.Load(c.ctx(), id); err == nil {
				rec.Revision += int64(i % 2)
				refs = append(refs, driver.Ref{ID: id, Version: rec.Version()})
			}
		}
		return s.Delete(c.ctx(), refs)
	})
}

func (c *comparison) compareCount() {
	c.Helper()
	if _, ok := c.store.(driver.Counter); !ok {
		return
	}
	c.both("count", func(s driver.Store) (any, error) {
		n, err := s.(driver.Counter).Count(c.ctx())
		for status, k := range n.ByStatus {
			if k == 0 {
				delete(n.ByStatus, status)
			}
		}
		return n, err
	})
}
