package sqltest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/sqlstore"
)

// many is enough to have several batches, and most writes in company.
const many = 600

// callMany makes many calls at once and returns what they return.
func callMany(call func(i int) error) []error {
	errs := make([]error, many)
	var group sync.WaitGroup
	for i := range many {
		group.Go(func() { errs[i] = call(i) })
	}
	group.Wait()
	return errs
}

// duplicatesAmongMany: every third ID is taken; the others' neighbours must not
// notice.
func duplicatesAmongMany(t *testing.T, s Subject) {
	store := s.Store(t, &sqlstore.Options{Table: "duplicates"})
	for i, err := range callMany(func(i int) error {
		if i%3 != 0 {
			return nil
		}
		return store.Create(t.Context(), dueRecord(numbered("r", i)))
	}) {
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	for i, err := range callMany(func(i int) error { return store.Create(t.Context(), dueRecord(numbered("r", i))) }) {
		if taken := i%3 == 0; errors.Is(err, driver.ErrExists) != taken || err != nil && !taken {
			t.Errorf("%d, taken %v: %v", i, taken, err)
		}
	}
}

// staleAmongMany: every third update is late.
func staleAmongMany(t *testing.T, s Subject) {
	store := s.Store(t, &sqlstore.Options{Table: "stale"})
	recs := make([]*driver.Record, many)
	for i, err := range callMany(func(i int) error {
		recs[i] = dueRecord(numbered("r", i))
		return store.Create(t.Context(), recs[i])
	}) {
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	late := func(i int) bool { return i%3 == 0 }
	for i, err := range callMany(func(i int) error {
		was, rec := recs[i].Version(), recs[i].Clone()
		if late(i) {
			was.Epoch--
		}
		rec.State = []byte("written")
		return store.Update(t.Context(), was, rec)
	}) {
		if errors.Is(err, driver.ErrStale) != late(i) || err != nil && !late(i) {
			t.Errorf("%d, late %v: %v", i, late(i), err)
		}
	}
	for i := range many {
		rec, err := store.Load(t.Context(), recs[i].ID)
		if err != nil || (string(rec.State) == "written") == late(i) {
			t.Errorf("%d, late %v: %+v, %v", i, late(i), rec, err)
		}
	}
}

// claimsAndWritesDoNotCollide: claimants take what writers have just made due,
// while these write on. Whatever the order in which they lock, everybody gets
// through.
func claimsAndWritesDoNotCollide(t *testing.T, s Subject) {
	const writers, rounds = 8, 10
	opts := &sqlstore.Options{Table: "collide"}
	stores := []*sqlstore.Store{s.Store(t, opts), s.Store(t, opts)}
	var claimed atomic.Int64
	var writing sync.WaitGroup
	done := make(chan struct{})
	for i := range writers {
		writing.Go(func() {
			for round := range rounds {
				if err := writeRound(t, stores[i%2], i*rounds+round); err != nil {
					t.Errorf("writer %d: %v", i, err)
				}
			}
		})
	}
	var claiming sync.WaitGroup
	for i, store := range stores {
		claiming.Go(func() {
			for over := false; !over; {
				select {
				case <-done:
					over = true // and look once more
				default:
				}
				got, err := store.Claim(t.Context(), driver.Claim{Owner: numbered("c", i), Lease: time.Hour, Limit: 20})
				if err != nil {
					t.Errorf("claimant %d: %v", i, err)
				}
				claimed.Add(int64(len(got.Records)))
			}
		})
	}
	writing.Wait()
	close(done)
	claiming.Wait()
	if claimed.Load() == 0 {
		t.Error("nothing was ever claimed")
	}
}

// writeRound creates a few records and changes each until a claimant has it.
func writeRound(t *testing.T, store *sqlstore.Store, round int) error {
	for i := range 4 {
		rec := dueRecord(numbered("r", round*4+i))
		if err := store.Create(t.Context(), rec); err != nil {
			return err
		}
		for range 3 {
			if err := store.Update(t.Context(), rec.Version(), rec); err != nil {
				if errors.Is(err, driver.ErrStale) {
					break
				}
				return err
			}
		}
	}
	return nil
}

// PoisonousRow writes a record that the database does not take, among many that
// it does.
func PoisonousRow(t *testing.T, s Subject, poison *driver.Record) {
	t.Helper()
	store := s.Store(t, &sqlstore.Options{Table: "poison"})
	for i, err := range callMany(func(i int) error {
		if i == many/2 {
			return store.Create(t.Context(), poison)
		}
		return store.Create(t.Context(), dueRecord(numbered("r", i)))
	}) {
		switch {
		case i != many/2 && err != nil:
			t.Errorf("%d: %v", i, err)
		case i == many/2 && (err == nil || errors.Is(err, driver.ErrUnavailable)):
			t.Errorf("the poisonous one: %v", err)
		}
	}
}
