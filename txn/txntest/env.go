package txntest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bedrock-go/bedrock/txn/driver"
)

const (
	// patience is how long anything may take at all.
	patience = 30 * time.Second
	// glance is how often a change is looked for.
	glance = 5 * time.Millisecond
	// owner is who claims when it does not matter who.
	owner = "replica-1"
)

// env is what a behaviour works with.
type env struct {
	testing.TB
	store driver.Store
	other driver.Store // on the same records; the same as store where it has no twin
}

func newEnv(t testing.TB, open func(testing.TB) driver.Store) *env {
	t.Helper()
	e := &env{TB: t, store: open(t)}
	e.other = e.store
	e.closeAfter(e.store)
	if twin, ok := e.store.(Twin); ok {
		e.other = twin.Twin(t)
		e.closeAfter(e.other)
	}
	return e
}

func (e *env) closeAfter(s driver.Store) {
	e.Cleanup(func() {
		if err := s.Close(); err != nil {
			e.Errorf("close: %v", err)
		}
	})
}

// ctx bounds a call, so that one that hangs fails the behaviour.
func (e *env) ctx() context.Context {
	ctx, cancel := context.WithTimeout(e.Context(), patience)
	e.Cleanup(cancel)
	return ctx
}

// dawn is when records were created when it does not matter when: before the
// clock of a testing/synctest bubble begins.
func dawn() time.Time { return time.Date(1999, 1, 2, 3, 4, 5, 123456000, time.UTC) }

// running returns a record that nobody can claim.
func running(id string) *driver.Record {
	return &driver.Record{
		ID: id, Mode: "saga", Name: "order", Status: driver.Running,
		Digest:  "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		Created: dawn(), Updated: dawn(), Spec: []byte("spec of " + id), State: []byte("state of " + id),
	}
}

// dueAt returns a record that can be claimed from a time on.
func dueAt(id string, due time.Time) *driver.Record {
	rec := running(id)
	rec.Due = due
	return rec
}

// final returns a record that is over.
func final(id string) *driver.Record {
	rec := running(id)
	rec.Status, rec.Finished = driver.Committed, dawn().Add(time.Minute)
	return rec
}

// full returns a record in which every field has a value of its own.
func full(id string) *driver.Record {
	rec := running(id)
	rec.Parked, rec.Waits, rec.Owner, rec.Epoch = "no such account", "https://pay.example", owner, 7
	rec.Due, rec.Deadline = dawn().Add(time.Hour), dawn().Add(2*time.Hour)
	rec.Updated, rec.Finished = dawn().Add(3*time.Hour), dawn().Add(4*time.Hour)
	return rec
}

// several makes n records, with a number after the prefix.
func several(prefix string, n int, record func(id string) *driver.Record) []*driver.Record {
	recs := make([]*driver.Record, n)
	for i := range recs {
		recs[i] = record(fmt.Sprintf("%s-%03d", prefix, i))
	}
	return recs
}

// create writes new records.
func (e *env) create(recs ...*driver.Record) {
	e.Helper()
	for _, rec := range recs {
		if err := e.store.Create(e.ctx(), rec); err != nil {
			e.Fatalf("create %q: %v", rec.ID, err)
		}
	}
}

// load reads a record that is there.
func (e *env) load(id string) *driver.Record {
	e.Helper()
	rec, err := e.other.Load(e.ctx(), id)
	if err != nil {
		e.Fatalf("load %q: %v", id, err)
	}
	return rec
}

// gone checks that there is no such record.
func (e *env) gone(id string) {
	e.Helper()
	rec, err := e.other.Load(e.ctx(), id)
	if !errors.Is(err, driver.ErrNotFound) {
		e.Fatalf("load %q: want ErrNotFound, got %+v and %v", id, rec, err)
	}
}

// update writes a record whose version is the one stored.
func (e *env) update(rec *driver.Record) {
	e.Helper()
	if err := e.store.Update(e.ctx(), rec.Version(), rec); err != nil {
		e.Fatalf("update %q: %v", rec.ID, err)
	}
}

// wantStale checks that a write is refused, and leaves everything as it is.
func (e *env) wantStale(was driver.Version, rec *driver.Record) {
	e.Helper()
	before, given := e.load(rec.ID), rec.Clone()
	if err := e.store.Update(e.ctx(), was, rec); !errors.Is(err, driver.ErrStale) {
		e.Fatalf("update %q in version %+v, stored is %+v: want ErrStale, got %v", rec.ID, was, before.Version(), err)
	}
	e.same("a record after a refused write", e.load(rec.ID), before)
	e.same("the writer's own record after a refused write", rec, given)
}

// late has somebody write a record whose version has passed.
func (e *env) late(was driver.Version, rec *driver.Record) {
	e.Helper()
	rec = rec.Clone()
	rec.State = []byte("too late")
	e.wantStale(was, rec)
}

// claimDue claims as a replica would.
func (e *env) claimDue(c driver.Claim) []*driver.Record {
	e.Helper()
	return e.claimAt(e.store, c).Records
}

// claimAt claims at one of the handles, with everything the claim leaves open.
func (e *env) claimAt(s driver.Store, c driver.Claim) driver.Claimed {
	e.Helper()
	if c.Owner == "" {
		c.Owner = owner
	}
	if c.Lease == 0 {
		c.Lease = time.Hour
	}
	if c.Limit == 0 {
		c.Limit = 1000
	}
	claimed, err := s.Claim(e.ctx(), c)
	if err != nil {
		e.Fatalf("claim %+v: %v", c, err)
	}
	return claimed
}

// nothingDue checks that there is nothing to claim, at either handle.
func (e *env) nothingDue(why string) {
	e.Helper()
	for _, s := range []driver.Store{e.store, e.other} {
		if recs := e.claimAt(s, driver.Claim{}).Records; len(recs) > 0 {
			e.Fatalf("claimed %v: %s", ids(recs), why)
		}
	}
}

// now reads the store's clock.
func (e *env) now() time.Time {
	e.Helper()
	now, err := e.store.Now(e.ctx())
	if err != nil {
		e.Fatalf("read the clock: %v", err)
	}
	return now
}

// list reads records.
func (e *env) list(q driver.Query) []*driver.Record {
	e.Helper()
	recs, err := e.other.List(e.ctx(), q)
	if err != nil {
		e.Fatalf("list %+v: %v", q, err)
	}
	return recs
}

// remove deletes records in the versions given, and checks how many went.
func (e *env) remove(want int, recs ...*driver.Record) {
	e.Helper()
	refs := make([]driver.Ref, len(recs))
	for i, rec := range recs {
		refs[i] = driver.Ref{ID: rec.ID, Version: rec.Version()}
	}
	n, err := e.store.Delete(e.ctx(), refs)
	if err != nil {
		e.Fatalf("delete %d records: %v", len(recs), err)
	}
	if n != want {
		e.Fatalf("delete %d records: %d went, want %d", len(recs), n, want)
	}
}

// same compares records, or lists of them.
func (e *env) same(what string, got, want any) {
	e.Helper()
	// Left alone, cmp looks at every single byte of a blob.
	filled := func(a, b []byte) bool { return len(a) > 0 || len(b) > 0 }
	blobs := cmp.FilterValues(filled, cmp.Comparer(bytes.Equal))
	if diff := cmp.Diff(want, got, blobs, cmpopts.EquateEmpty()); diff != "" {
		e.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// ids are the names of records, in their order.
func ids(recs []*driver.Record) []string {
	all := make([]string, len(recs))
	for i, rec := range recs {
		all[i] = rec.ID
	}
	return all
}

// together runs n goroutines and waits for them. They must not end the test.
func together(n int, work func(i int)) {
	var group sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		group.Go(func() {
			<-start
			work(i)
		})
	}
	close(start)
	group.Wait()
}

// eventually looks again and again until done.
func (e *env) eventually(what string, done func() bool) {
	e.Helper()
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for end := time.Now().Add(patience); !done(); <-tick.C {
		if time.Now().After(end) {
			e.Fatalf("waited %s in vain: %s", patience, what)
		}
	}
}

// seat picks one of the two handles.
func (e *env) seat(i int) driver.Store {
	if i%2 == 0 {
		return e.store
	}
	return e.other
}
