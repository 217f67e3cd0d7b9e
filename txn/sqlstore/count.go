package sqlstore

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// Count implements [driver.Counter]. What is not final is counted each time.
// Counting millions that are takes a while, so such a count is used again for
// some time, in proportion; it is never more than a minute old.
func (s *Store) Count(ctx context.Context) (driver.Counts, error) {
	var n driver.Counts
	err := s.whileAlive(ctx, "count", func(ctx context.Context) (err error) {
		n, err = s.count(ctx)
		return Unwritten(err)
	})
	return n, err
}

func (s *Store) count(ctx context.Context) (driver.Counts, error) {
	n := driver.Counts{ByStatus: make(map[driver.Status]int)}
	over, err := s.counts.get(func() (map[driver.Status]int, error) { return s.countStatus(ctx, finals) })
	if err != nil {
		return n, err
	}
	open, err := s.countStatus(ctx, underWay)
	if err != nil {
		return n, err
	}
	maps.Copy(n.ByStatus, over)
	maps.Copy(n.ByStatus, open)
	return n, s.countMarked(ctx, &n)
}

// countStatus counts the records with one of some statuses; an index is enough for that.
func (s *Store) countStatus(ctx context.Context, which string) (map[driver.Status]int, error) {
	rows, err := s.db.Read.QueryContext(
		ctx, s.sql("SELECT status, COUNT(*) FROM {tx} WHERE status IN "+which+" GROUP BY status"),
	)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	n := make(map[driver.Status]int)
	for rows.Next() {
		var status driver.Status
		var count int
		if err := rows.Scan(&status, &count); err != nil {
			return nil, err
		}
		n[status] = count
	}
	return n, rows.Err()
}

// countMarked counts the records that are parked or due, and looks for the oldest.
func (s *Store) countMarked(ctx context.Context, n *driver.Counts) error {
	now, err := s.dialect.Now(ctx, s.db.Read)
	if err != nil {
		return err
	}
	one := func(dest any, text string, args ...any) error {
		return s.db.Read.QueryRowContext(ctx, s.sql(text), args...).Scan(dest)
	}
	if err := one(&n.Parked, "SELECT COUNT(*) FROM {tx} WHERE parked > ''"); err != nil {
		return err
	}
	due := "SELECT COUNT(*) FROM {tx} WHERE due > 0 AND due <= ? AND parked = '' AND " + isUnderWay
	if err := one(&n.Due, due, Micros(now)); err != nil {
		return err
	}
	var first int64
	if err := one(&first, oldest); err != nil {
		return err
	}
	n.Oldest = FromMicros(first)
	return nil
}

// oldest takes the first entry of each status from the index.
const oldest = "SELECT COALESCE(MIN(first), 0) FROM (" +
	"SELECT MIN(created) AS first FROM {tx} WHERE status = 'open' UNION ALL " +
	"SELECT MIN(created) FROM {tx} WHERE status = 'running' UNION ALL " +
	"SELECT MIN(created) FROM {tx} WHERE status = 'committing' UNION ALL " +
	"SELECT MIN(created) FROM {tx} WHERE status = 'rolling-back') AS firsts"

// A count of more than countAnew records is good for keepFactor times as long as
// it took, but not for longer than keepAtMost.
const (
	countAnew  = 100_000
	keepFactor = 30
	keepAtMost = time.Minute
)

// tally remembers a count that is expensive.
type tally struct {
	mu    sync.Mutex
	n     map[driver.Status]int
	until time.Time
}

// get counts, or says what was counted before. A caller that comes meanwhile waits.
func (t *tally) get(count func() (map[driver.Status]int, error)) (map[driver.Status]int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	start := time.Now()
	if start.Before(t.until) {
		return t.n, nil
	}
	n, err := count()
	if err != nil {
		return nil, err
	}
	sum := 0
	for _, of := range n {
		sum += of
	}
	if sum > countAnew {
		t.n, t.until = n, time.Now().Add(min(keepFactor*time.Since(start), keepAtMost))
	}
	return n, nil
}
