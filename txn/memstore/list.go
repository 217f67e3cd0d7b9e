package memstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// defaultLimit bounds an answer when the query does not.
const defaultLimit = 100

// byCreation is the order of the list of all records, oldest first.
func byCreation(e *entry, c driver.Cursor) int {
	return cmp.Or(e.rec.Created.Compare(c.Created), strings.Compare(e.rec.ID, c.ID))
}

// List implements [driver.Store].
func (s *Store) List(ctx context.Context, q driver.Query) ([]*driver.Record, error) {
	var found []*driver.Record
	err := s.locked(ctx, func() error {
		found = s.find(q)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("memstore: list: %w", err)
	}
	for i, rec := range found {
		found[i] = copyForReader(rec, q.Brief)
	}
	return found, nil
}

// find goes through the records, newest first.
func (s *Store) find(q driver.Query) []*driver.Record {
	end := len(s.created)
	if q.Before != (driver.Cursor{}) {
		end, _ = slices.BinarySearchFunc(s.created, q.Before, byCreation)
	}
	limit := cmp.Or(q.Limit, defaultLimit)
	var found []*driver.Record
	for i := end - 1; i >= 0 && len(found) < limit; i-- {
		if rec := s.created[i].rec; selects(&q, rec) {
			found = append(found, rec)
		}
	}
	return found
}

func selects(q *driver.Query, rec *driver.Record) bool {
	return rec.Status != driver.Kept &&
		(len(q.Status) == 0 || slices.Contains(q.Status, rec.Status)) &&
		(len(q.Modes) == 0 || slices.Contains(q.Modes, rec.Mode)) &&
		(q.Name == "" || q.Name == rec.Name) &&
		strings.HasPrefix(rec.ID, q.Prefix) &&
		(!q.Parked || rec.Parked != "") &&
		(q.FinishedBefore.IsZero() || rec.Status.Final() && rec.Finished.Before(q.FinishedBefore))
}

// copyForReader copies a record for its reader.
func copyForReader(rec *driver.Record, brief bool) *driver.Record {
	if !brief {
		return rec.Clone()
	}
	c := *rec
	c.Spec, c.State = nil, nil
	return &c
}

// Count implements [driver.Counter].
func (s *Store) Count(ctx context.Context) (driver.Counts, error) {
	n := driver.Counts{ByStatus: make(map[driver.Status]int)}
	err := s.locked(ctx, func() error {
		s.count(&n, s.clock())
		return nil
	})
	if err != nil {
		return driver.Counts{}, fmt.Errorf("memstore: count: %w", err)
	}
	return n, nil
}

func (s *Store) count(n *driver.Counts, now time.Time) {
	for _, e := range s.created {
		if e.rec.Status == driver.Kept {
			continue
		}
		n.ByStatus[e.rec.Status]++
		if e.rec.Parked != "" {
			n.Parked++
		}
		if e.at[byDue] >= 0 && !e.rec.Due.After(now) {
			n.Due++
		}
		if n.Oldest.IsZero() && !e.rec.Status.Final() {
			n.Oldest = e.rec.Created
		}
	}
}
