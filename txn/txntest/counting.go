package txntest

import (
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// counting: a store that counts counts right.
func counting() []behaviour {
	return []behaviour{
		{"CountIsWrong", countIsWrong},
		{"CountMissesAChange", countMissesAChange},
		{"KeptRecordIsCounted", keptRecordIsCounted},
	}
}

// counts checks what is counted, at either handle.
func (e *env) counts(want driver.Counts) {
	e.Helper()
	counter, ok := e.other.(driver.Counter)
	if !ok {
		e.Skip("the store does not count")
	}
	got, err := counter.Count(e.ctx())
	if err != nil {
		e.Fatalf("count: %v", err)
	}
	for status, n := range got.ByStatus {
		if n == 0 {
			delete(got.ByStatus, status)
		}
	}
	e.same("the count", got, want)
}

func countIsWrong(e *env) {
	e.counts(driver.Counts{})
	past, later := e.now().Add(-time.Minute), e.now().Add(time.Hour)
	oldest := final("over")
	oldest.Created = dawn().Add(-2 * time.Hour)
	next := running("running")
	next.Created = dawn().Add(-time.Hour)
	parked := dueAt("parked", past)
	parked.Parked = "for a person"
	e.create(oldest, next, parked, dueAt("due", past), dueAt("due-too", past), dueAt("later", later))
	e.counts(driver.Counts{
		ByStatus: map[driver.Status]int{driver.Running: 5, driver.Committed: 1},
		Parked:   1, Due: 2, Oldest: next.Created,
	})
}

func countMissesAChange(e *env) {
	rec := dueAt("a", e.now().Add(-time.Minute))
	e.create(rec)
	e.counts(driver.Counts{ByStatus: map[driver.Status]int{driver.Running: 1}, Due: 1, Oldest: rec.Created})
	rec = e.claimDue(driver.Claim{})[0]
	e.counts(driver.Counts{ByStatus: map[driver.Status]int{driver.Running: 1}, Oldest: rec.Created})
	rec.Status, rec.Parked = driver.RollingBack, "for a person"
	e.update(rec)
	e.counts(driver.Counts{ByStatus: map[driver.Status]int{driver.RollingBack: 1}, Parked: 1, Oldest: rec.Created})
	rec.Status, rec.Parked, rec.Finished = driver.RolledBack, "", dawn()
	e.update(rec)
	e.counts(driver.Counts{ByStatus: map[driver.Status]int{driver.RolledBack: 1}})
	e.remove(1, rec)
	e.counts(driver.Counts{})
}

// keptRecordIsCounted: what is no transaction is not one that is open, nor the oldest.
func keptRecordIsCounted(e *env) {
	rec := running("a/topic")
	rec.Status, rec.Created = driver.Kept, dawn().Add(-time.Hour)
	young := running("transaction")
	e.create(rec, young)
	want := driver.Counts{ByStatus: map[driver.Status]int{driver.Running: 1}, Oldest: young.Created}
	e.counts(want)
	rec.Spec = []byte("other")
	e.update(rec)
	e.counts(want)
}
