package memstore

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// Options configure a store. The zero value and nil mean the defaults.
type Options struct {
	// Now is the store's clock; a test can make it jump. Defaults to time.Now.
	Now func() time.Time
}

// Store keeps records in memory. All who are to share them use the same Store.
type Store struct {
	clock func() time.Time

	mu      sync.Mutex
	closed  bool
	records map[string]*entry
	created []*entry          // in the order of their creation
	due     *index            // what can be claimed by time
	waits   map[string]*index // what can be claimed by target
}

var (
	_ driver.Store   = (*Store)(nil)
	_ driver.Counter = (*Store)(nil)
)

// entry is the place of a record. The record itself is never changed, only
// replaced, so that it can be read without the lock.
type entry struct {
	rec *driver.Record
	at  [orders]int // where it is in its queues, -1 when it is not
}

// New returns an empty store.
func New(opts *Options) *Store {
	s := &Store{
		clock: time.Now, records: make(map[string]*entry),
		due: newIndex(byDue), waits: make(map[string]*index),
	}
	if opts != nil && opts.Now != nil {
		s.clock = opts.Now
	}
	return s
}

// Create implements [driver.Store].
func (s *Store) Create(ctx context.Context, rec *driver.Record) error {
	own := copyOf(rec)
	own.Revision = 1
	if err := s.written(ctx, own, func() error { return s.create(own) }); err != nil {
		return fmt.Errorf("memstore: create %q: %w", rec.ID, err)
	}
	rec.Revision = own.Revision
	return nil
}

func (s *Store) create(rec *driver.Record) error {
	if s.records[rec.ID] != nil {
		return driver.ErrExists
	}
	e := &entry{at: nowhere()}
	s.replaceRecord(e, rec)
	s.records[rec.ID] = e
	i, _ := slices.BinarySearchFunc(s.created, rec.Cursor(), byCreation)
	s.created = slices.Insert(s.created, i, e)
	return nil
}

// Load implements [driver.Store].
func (s *Store) Load(ctx context.Context, id string) (*driver.Record, error) {
	var found *driver.Record
	err := s.locked(ctx, func() error {
		e := s.records[id]
		if e == nil {
			return driver.ErrNotFound
		}
		found = e.rec
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("memstore: load %q: %w", id, err)
	}
	return found.Clone(), nil
}

// Update implements [driver.Store].
func (s *Store) Update(ctx context.Context, was driver.Version, rec *driver.Record) error {
	own := copyOf(rec)
	own.Revision = was.Revision + 1
	if err := s.written(ctx, own, func() error { return s.update(was, own) }); err != nil {
		return fmt.Errorf("memstore: update %q: %w", rec.ID, err)
	}
	rec.Revision = own.Revision
	return nil
}

func (s *Store) update(was driver.Version, rec *driver.Record) error {
	e := s.records[rec.ID]
	if e == nil || e.rec.Version() != was {
		return driver.ErrStale
	}
	old := e.rec
	rec.Mode, rec.Name, rec.Digest, rec.Created = old.Mode, old.Name, old.Digest, old.Created
	if rec.Spec == nil {
		rec.Spec = old.Spec
	}
	s.replaceRecord(e, rec)
	return nil
}

// Delete implements [driver.Store].
func (s *Store) Delete(ctx context.Context, refs []driver.Ref) (int, error) {
	removed := 0
	err := s.locked(ctx, func() error {
		removed = s.remove(refs)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("memstore: delete %d records: %w", len(refs), err)
	}
	return removed, nil
}

// remove goes through the list of all records once, however many are removed.
func (s *Store) remove(refs []driver.Ref) int {
	gone := make(map[*entry]bool, len(refs))
	for _, ref := range refs {
		e := s.records[ref.ID]
		if e != nil && e.rec.Status.Final() && e.rec.Version() == ref.Version {
			delete(s.records, ref.ID)
			gone[e] = true
		}
	}
	if len(gone) > 0 {
		s.created = slices.DeleteFunc(s.created, func(e *entry) bool { return gone[e] })
	}
	return len(gone)
}

// Close implements [driver.Store].
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// written runs fn, which writes a record, on an open store.
func (s *Store) written(ctx context.Context, rec *driver.Record, fn func() error) error {
	if err := rec.Check(); err != nil {
		return err
	}
	return s.locked(ctx, fn)
}

// locked runs fn on an open store.
func (s *Store) locked(ctx context.Context, fn func() error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", driver.ErrUnavailable, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return driver.ErrClosed
	}
	return fn()
}

// copyOf copies a record with its times as every store keeps them: microseconds,
// no zone. What is more exact would compare differently elsewhere.
func copyOf(rec *driver.Record) *driver.Record {
	own := rec.Clone()
	for _, t := range []*time.Time{&own.Due, &own.Deadline, &own.Created, &own.Updated, &own.Finished} {
		*t = micros(*t)
	}
	return own
}

func micros(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
