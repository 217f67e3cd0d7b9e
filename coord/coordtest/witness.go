package coordtest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// witness stands between all coordinators and the store. It sees every write that
// took effect, in whatever order its acknowledgements were lost, and complains
// about those that must never happen.
type witness struct {
	driver.Store

	mu     sync.Mutex
	status map[string]map[int64]driver.Status // by ID and revision
	wrong  []string
}

func newWitness(s driver.Store) *witness {
	return &witness{Store: s, status: make(map[string]map[int64]driver.Status)}
}

func (w *witness) Create(ctx context.Context, rec *driver.Record) error {
	err := w.Store.Create(ctx, rec)
	if err == nil {
		w.saw(rec, "")
	}
	return err
}

func (w *witness) Update(ctx context.Context, was driver.Version, rec *driver.Record) error {
	before := w.before(rec.ID, was.Revision)
	err := w.Store.Update(ctx, was, rec)
	if err == nil {
		w.saw(rec, before)
	}
	return err
}

func (w *witness) Claim(ctx context.Context, c driver.Claim) (driver.Claimed, error) {
	claimed, err := w.Store.Claim(ctx, c)
	for _, rec := range claimed.Records {
		w.saw(rec, rec.Status)
	}
	return claimed, err
}

func (w *witness) before(id string, revision int64) driver.Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status[id][revision]
}

// saw enters one write and judges it.
func (w *witness) saw(rec *driver.Record, before driver.Status) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.status[rec.ID] == nil {
		w.status[rec.ID] = make(map[int64]driver.Status)
	}
	if other, twice := w.status[rec.ID][rec.Revision]; twice {
		w.complain("%s was written twice as revision %d: %s and %s", rec.ID, rec.Revision, other, rec.Status)
	}
	w.status[rec.ID][rec.Revision] = rec.Status
	if before != "" && !slices.Contains(follows(before), rec.Status) {
		w.complain("%s went from %s to %s", rec.ID, before, rec.Status)
	}
	if rec.Due.IsZero() && !rec.Status.Final() && rec.Parked == "" {
		w.complain("%s is %s and will never be looked at again", rec.ID, rec.Status)
	}
}

func (w *witness) complain(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

func (w *witness) complaints() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.wrong)
}

// follows lists what may come after a status: nothing leaves a decision.
func follows(s driver.Status) []driver.Status {
	switch s {
	case driver.Open:
		return []driver.Status{driver.Open, driver.Committing, driver.RollingBack, driver.RolledBack}
	case driver.Running:
		return []driver.Status{driver.Running, driver.Committing, driver.Committed, driver.RollingBack}
	case driver.Committing:
		return []driver.Status{driver.Committing, driver.Committed}
	case driver.RollingBack:
		return []driver.Status{driver.RollingBack, driver.RolledBack}
	default:
		return nil
	}
}
