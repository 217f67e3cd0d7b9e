package txntest

import (
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// deleting: what is over may go, nothing else.
func deleting() []behaviour {
	return []behaviour{
		{"DeletedRecordStays", deletedRecordStays},
		{"UnfinishedRecordIsDeleted", unfinishedRecordIsDeleted},
		{"ChangedRecordIsDeleted", changedRecordIsDeleted},
		{"BatchDeletesTooMuchOrTooLittle", batchDeletesTooMuchOrTooLittle},
		{"NothingIsDeletedWrongly", nothingIsDeletedWrongly},
	}
}

func deletedRecordStays(e *env) {
	rec := final("a")
	e.create(rec)
	e.remove(1, rec)
	e.gone("a")
	e.selects(driver.Query{})
	e.selects(driver.Query{FinishedBefore: dawn().Add(time.Hour)})
	e.nothingDue("it was deleted")
	e.remove(0, rec)
}

func unfinishedRecordIsDeleted(e *env) {
	var all []string
	for _, status := range []driver.Status{driver.Open, driver.Running, driver.Committing, driver.RollingBack} {
		rec := running(string(status))
		rec.Status = status
		e.create(rec)
		e.remove(0, rec)
		all = append(all, rec.ID)
	}
	e.selects(driver.Query{}, all...)
	for _, status := range []driver.Status{driver.Committed, driver.RolledBack, driver.InDoubt} {
		rec := final(string(status))
		rec.Status = status
		e.create(rec)
		e.remove(1, rec)
	}
	e.selects(driver.Query{}, all...)
}

func changedRecordIsDeleted(e *env) {
	rec := final("a")
	rec.Epoch = 3
	e.create(rec)
	e.update(rec)
	for _, version := range []driver.Version{
		{Revision: 1, Epoch: 3}, {Revision: 3, Epoch: 3}, {Revision: 2, Epoch: 2}, {Revision: 2, Epoch: 4}, {},
	} {
		other := final("a")
		other.Revision, other.Epoch = version.Revision, version.Epoch
		e.remove(0, other)
	}
	earlier := rec.Clone()
	earlier.Created = dawn().Add(-time.Microsecond)
	e.remove(0, earlier)
	e.same("the record after deletes of other versions", e.load("a"), rec)
	e.remove(1, rec)
}

// batchDeletesTooMuchOrTooLittle: a batch is as long as a retention's, and only
// some of it may go.
func batchDeletesTooMuchOrTooLittle(e *env) {
	over, kept := several("over", 500, final), several("kept", 20, running)
	e.create(over...)
	e.create(kept...)
	changed := over[7].Clone()
	e.update(changed)
	batch := append(append([]*driver.Record{final("unknown")}, over...), kept...)
	e.remove(499, batch...)
	want := append(ids(kept), changed.ID)
	e.selects(driver.Query{Limit: 1000}, want...)
	e.remove(1, changed, changed)
}

func nothingIsDeletedWrongly(e *env) {
	e.create(final("a"))
	e.remove(0)
	e.selects(driver.Query{}, "a")
}
