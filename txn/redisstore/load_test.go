package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/redisstore"
)

// writer counts in a record of its own while its server suffers, and holds the
// store to what it says.
type writer struct {
	t     testing.TB
	store *redisstore.Store
	rec   *driver.Record

	acknowledged int // the last count the store has acknowledged
	unknown      int // how many writes had an unknown outcome
	refused      int // how many did not happen
}

// load is a number of writers at work until it is stopped.
type load struct {
	t       testing.TB
	writers []*writer
	stop    context.CancelFunc
	group   sync.WaitGroup
}

// startLoad lets n writers work. Their records stay due, far in the past.
func startLoad(t testing.TB, s *redisstore.Store, n int) *load {
	t.Helper()
	l := &load{t: t}
	for i := range n {
		w := &writer{t: t, store: s, rec: &driver.Record{
			ID: fmt.Sprint("w", i), Mode: "saga", Status: driver.Running, Created: time.Now(),
			Due: time.Now().Add(-time.Hour), State: []byte("0"),
		}}
		if err := s.Create(ctxFor(t), w.rec); err != nil {
			t.Fatal(err)
		}
		l.writers = append(l.writers, w)
	}
	ctx, stop := context.WithCancel(ctxFor(t))
	l.stop = stop
	for _, w := range l.writers {
		l.group.Go(func() {
			for ctx.Err() == nil {
				w.write()
			}
		})
	}
	t.Cleanup(func() {
		stop()
		l.group.Wait()
	})
	return l
}

// write adds one.
func (w *writer) write() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	next := w.rec.Clone()
	next.State = strconv.AppendInt(nil, int64(w.acknowledged+1), 10)
	// A due time that moves keeps the queue of its shard at work.
	next.Due = next.Due.Add(time.Microsecond)
	switch err := w.store.Update(ctx, w.rec.Version(), next); {
	case err == nil:
		w.acknowledged++
		w.rec = next
	case errors.Is(err, driver.ErrStale):
		w.t.Errorf("%s: nobody else writes it: %v", w.rec.ID, err)
		w.reload(false)
	case errors.Is(err, driver.ErrUnavailable):
		w.refused++
		w.reload(false)
	default:
		w.unknown++
		w.reload(true)
	}
}

// reload looks what has become of a write.
func (w *writer) reload(mayBeWritten bool) {
	rec := w.settle()
	if rec == nil {
		return
	}
	n, _ := strconv.Atoi(string(rec.State))
	switch {
	case n == w.acknowledged:
	case n == w.acknowledged+1 && mayBeWritten:
		w.acknowledged = n
	default:
		w.t.Errorf(
			"%s: %d is stored, %d was acknowledged, the next may be written: %t", rec.ID, n, w.acknowledged,
			mayBeWritten,
		)
		w.acknowledged = n
	}
	w.rec = rec
}

// settle reads the record when no write of it can be under way any more: it
// raises the epoch.
func (w *writer) settle() *driver.Record {
	ctx := ctxFor(w.t)
	for ctx.Err() == nil {
		rec, err := w.store.Load(ctx, w.rec.ID)
		if err != nil {
			if errors.Is(err, driver.ErrNotFound) {
				w.t.Errorf("%s is lost", w.rec.ID)
				return nil
			}
			continue
		}
		fence := rec.Clone()
		fence.Epoch++
		if err := w.store.Update(ctx, rec.Version(), fence); err == nil {
			return fence
		}
	}
	w.t.Errorf("%s: the server does not come back", w.rec.ID)
	return nil
}

// end stops the writers, and checks that all of their records are there and can
// be found by every way.
func (l *load) end() (acknowledged, unknown, refused int) {
	l.t.Helper()
	l.stop()
	l.group.Wait()
	for _, w := range l.writers {
		w.reload(false)
		acknowledged, unknown, refused = acknowledged+w.acknowledged, unknown+w.unknown, refused+w.refused
	}
	s, n := l.writers[0].store, len(l.writers)
	recs, err := s.List(ctxFor(l.t), driver.Query{Limit: 2 * n})
	if err != nil || len(recs) != n {
		l.t.Errorf("list: %d of %d records, %v", len(recs), n, err)
	}
	claimed, err := s.Claim(ctxFor(l.t), driver.Claim{Owner: "replica-1", Lease: time.Hour, Limit: 2 * n})
	if err != nil || len(claimed.Records) != n {
		l.t.Errorf("claim: %d of %d records, %v", len(claimed.Records), n, err)
	}
	return acknowledged, unknown, refused
}

// until waits until the writers have got on by n writes.
func (l *load) until(ctx context.Context, s *redisstore.Store, n int64) {
	l.t.Helper()
	start := l.revisions(ctx, s)
	for l.revisions(ctx, s) < start+n {
		if ctx.Err() != nil {
			l.t.Fatal("the writers do not get on")
		}
	}
}

// revisions is how many writes are stored.
func (l *load) revisions(ctx context.Context, s *redisstore.Store) int64 {
	var sum int64
	recs, err := s.List(ctx, driver.Query{Brief: true, Limit: 2 * len(l.writers)})
	if err != nil {
		return 0
	}
	for _, rec := range recs {
		sum += rec.Revision
	}
	return sum
}
