package txntest

import (
	"encoding/binary"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// updating: a write counts only for who has seen the last one.
func updating() []behaviour {
	return []behaviour{
		{"UpdateIsIncomplete", updateIsIncomplete},
		{"SpecDoesNotGrow", specDoesNotGrow},
		{"UnchangedSpecIsLost", unchangedSpecIsLost},
		{"StaleRevisionWrites", staleRevisionWrites},
		{"StaleEpochWrites", staleEpochWrites},
		{"EarlierLifeWrites", earlierLifeWrites},
		{"UpdateCreates", updateCreates},
		{"DeletedRecordIsRevived", deletedRecordIsRevived},
		{"ImmutableFieldChanges", immutableFieldChanges},
		{"EpochIsNotRaised", epochIsNotRaised},
		{"UpdateSharesMemory", updateSharesMemory},
		{"TwoUpdatesOfOneVersionSucceed", twoUpdatesOfOneVersionSucceed},
		{"IncrementIsLost", incrementIsLost},
		{"UpdateLeavesTheOldDueTime", updateLeavesTheOldDueTime},
	}
}

func updateIsIncomplete(e *env) {
	e.create(running("a"))
	next := full("a")
	next.Status, next.Revision, next.Epoch = driver.RollingBack, 1, 0
	next.State = []byte("quite another state")
	e.update(next)
	e.same("the record updated", e.load("a"), next)
	next.Parked, next.Waits, next.Owner = "", "", ""
	next.Due, next.Deadline, next.Finished = time.Time{}, time.Time{}, time.Time{}
	e.update(next)
	e.same("the record after its fields were emptied", e.load("a"), next)
}

// specDoesNotGrow: branches join an open transaction, and with the last of them
// it may stop being open.
func specDoesNotGrow(e *env) {
	rec := running("a")
	rec.Status = driver.Open
	e.create(rec)
	rec.Spec = []byte("one branch")
	e.update(rec)
	e.same("the record after a branch joined", e.load("a"), rec)
	rec.Spec, rec.Status = []byte("two branches"), driver.Committing
	e.update(rec)
	e.same("the record after the last branch joined", e.load("a"), rec)
}

// unchangedSpecIsLost: a writer that has not touched the spec need not send it.
func unchangedSpecIsLost(e *env) {
	rec := running("a")
	e.create(rec)
	want := rec.Clone()
	rec.Spec, rec.State = nil, []byte("further")
	e.update(rec)
	e.update(rec)
	want.State, want.Revision = rec.State, 3
	e.same("the record after updates without a spec", e.load("a"), want)
	e.same("the list after updates without a spec", e.list(driver.Query{}), []*driver.Record{want})
}

func staleRevisionWrites(e *env) {
	rec := full("a")
	e.create(rec)
	e.update(rec)
	for _, revision := range []int64{0, 1, 3, -1} {
		was := rec.Version()
		was.Revision = revision
		e.late(was, full("a"))
	}
}

func staleEpochWrites(e *env) {
	rec := full("a")
	e.create(rec)
	for _, epoch := range []int64{0, rec.Epoch - 1, rec.Epoch + 1} {
		was := rec.Version()
		was.Epoch = epoch
		e.late(was, full("a"))
	}
}

// earlierLifeWrites: an ID that was removed is used again, and somebody has seen the
// record that had it before in the same revision and epoch.
func earlierLifeWrites(e *env) {
	earlier := final("a")
	e.create(earlier)
	e.remove(1, earlier)
	rec := final("a")
	rec.Created = dawn().Add(time.Microsecond)
	e.create(rec)
	e.late(earlier.Version(), earlier)
	e.update(rec)
}

func updateCreates(e *env) {
	for _, revision := range []int64{0, 1} {
		rec := running("a")
		was := rec.Version()
		was.Revision = revision
		err := e.store.Update(e.ctx(), was, rec)
		if !errors.Is(err, driver.ErrStale) {
			e.Fatalf("update a record that does not exist: want ErrStale, got %v", err)
		}
		e.gone("a")
	}
}

func deletedRecordIsRevived(e *env) {
	rec := final("a")
	e.create(rec)
	e.remove(1, rec)
	if err := e.other.Update(e.ctx(), rec.Version(), rec); !errors.Is(err, driver.ErrStale) {
		e.Fatalf("update a record that was deleted: want ErrStale, got %v", err)
	}
	e.gone("a")
}

func immutableFieldChanges(e *env) {
	rec := full("a")
	e.create(rec)
	want, was := rec.Clone(), rec.Version()
	rec.Mode, rec.Name, rec.Digest, rec.Created = "tcc", "another", "another", dawn().Add(time.Hour)
	if err := e.store.Update(e.ctx(), was, rec); err != nil {
		e.Fatal(err)
	}
	want.Revision = 2
	e.same("the record after an update with another origin", e.load("a"), want)
	e.same("the list after an update with another origin", e.list(driver.Query{}), []*driver.Record{want})
}

func epochIsNotRaised(e *env) {
	rec := full("a")
	e.create(rec)
	was := rec.Version()
	rec.Epoch = was.Epoch + 5
	if err := e.store.Update(e.ctx(), was, rec); err != nil {
		e.Fatalf("update that raises the epoch: %v", err)
	}
	e.same("the record after its epoch was raised", e.load("a"), rec)
	late := rec.Clone()
	was.Revision = rec.Revision
	e.wantStale(was, late)
}

func updateSharesMemory(e *env) {
	rec := running("a")
	e.create(rec)
	rec.State = []byte("next")
	e.update(rec)
	want := rec.Clone()
	rec.State[0] = '#'
	e.same("the record after its writer changed his own", e.load("a"), want)
}

func twoUpdatesOfOneVersionSucceed(e *env) {
	rec := running("a")
	e.create(rec)
	for range 20 {
		var won, odd atomic.Int32
		was := rec.Version()
		together(8, func(i int) {
			own := rec.Clone()
			own.State = []byte{byte(i)}
			switch err := e.seat(i).Update(e.ctx(), was, own); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, driver.ErrStale):
				odd.Add(1)
			}
		})
		if won.Load() != 1 || odd.Load() != 0 {
			e.Fatalf("%d of 8 writers of one version succeeded and %d had strange errors, want 1 and 0", won.Load(),
				odd.Load())
		}
		rec = e.load("a")
		e.same("the revision", rec.Revision, was.Revision+1)
	}
}

// incrementIsLost counts by reading, adding and writing on condition.
func incrementIsLost(e *env) {
	const writers, each = 8, 20
	rec := running("a")
	rec.State = binary.BigEndian.AppendUint64(nil, 0)
	e.create(rec)
	failures := make(chan error, writers)
	together(writers, func(i int) { failures <- e.increment(e.seat(i), "a", each) })
	for range writers {
		if err := <-failures; err != nil {
			e.Fatal(err)
		}
	}
	got := e.load("a")
	e.same("the count", binary.BigEndian.Uint64(got.State), uint64(writers*each))
	e.same("the revision", got.Revision, int64(writers*each+1))
}

// increment adds n to the number in a record, one by one.
func (e *env) increment(s driver.Store, id string, n int) error {
	ctx := e.ctx()
	for n > 0 {
		rec, err := s.Load(ctx, id)
		if err != nil {
			return err
		}
		runtime.Gosched() // lets others come in between
		rec.State = binary.BigEndian.AppendUint64(nil, binary.BigEndian.Uint64(rec.State)+1)
		switch err := s.Update(ctx, rec.Version(), rec); {
		case err == nil:
			n--
		case !errors.Is(err, driver.ErrStale):
			return err
		}
	}
	return nil
}

// updateLeavesTheOldDueTime: what an update says about due times counts at once.
func updateLeavesTheOldDueTime(e *env) {
	past := e.now().Add(-time.Minute)
	rec := dueAt("a", past)
	e.create(rec)
	rec.Due = time.Time{}
	e.update(rec)
	e.nothingDue("an update took its due time")
	rec.Due = e.now().Add(time.Hour)
	e.update(rec)
	e.nothingDue("an update put it off")
	rec.Due = past
	e.update(rec)
	e.same("what is due", ids(e.claimDue(driver.Claim{})), []string{"a"})
}
