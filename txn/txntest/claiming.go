package txntest

import (
	"errors"
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// claiming: what is due finds an owner, and only one.
func claiming() []behaviour {
	return []behaviour{
		{"DueRecordIsOverlooked", dueRecordIsOverlooked},
		{"ClaimedRecordIsIncomplete", claimedRecordIsIncomplete},
		{"ClaimIgnoresDueOrder", claimIgnoresDueOrder},
		{"ClaimExceedsItsLimit", claimExceedsItsLimit},
		{"UndueRecordIsClaimed", undueRecordIsClaimed},
		{"RecordWithoutDueTimeIsClaimed", recordWithoutDueTimeIsClaimed},
		{"ParkedRecordIsClaimed", parkedRecordIsClaimed},
		{"FinalRecordIsClaimed", finalRecordIsClaimed},
		{"OvertakenOwnerWrites", overtakenOwnerWrites},
		{"LeaseIsIgnored", leaseIsIgnored},
		{"LeaseNeverEnds", leaseNeverEnds},
		{"RenewedLeaseEnds", renewedLeaseEnds},
		{"TargetWakesOthers", targetWakesOthers},
		{"TargetWakesTheWrongStatus", targetWakesTheWrongStatus},
		{"TargetTakesFromTheOwner", targetTakesFromTheOwner},
		{"ClockIsWrong", clockIsWrong},
		{"ClockStandsStill", clockStandsStill},
		{"ClockIsNotTheClaims", clockIsNotTheClaims},
	}
}

func dueRecordIsOverlooked(e *env) {
	now := e.now()
	var want []string
	for i, age := range []time.Duration{0, time.Microsecond, time.Second, time.Hour, 24 * 365 * time.Hour} {
		rec := dueAt(string(rune('a'+i)), now.Add(-age))
		e.create(rec)
		want = append(want, rec.ID)
	}
	for _, status := range []driver.Status{driver.Open, driver.Committing, driver.RollingBack} {
		rec := dueAt(string(status), now.Add(-time.Second))
		rec.Status = status
		e.create(rec)
		want = append(want, rec.ID)
	}
	got := ids(e.claimDue(driver.Claim{}))
	slices.Sort(got)
	slices.Sort(want)
	e.same("what is due", got, want)
}

// claimedRecordIsIncomplete: the claimant goes on without reading.
func claimedRecordIsIncomplete(e *env) {
	rec := full("a")
	rec.Parked, rec.Waits = "", ""
	e.create(rec)
	claimed := e.claimAt(e.store, driver.Claim{Owner: "replica-2", Lease: time.Minute})
	want := rec.Clone()
	want.Owner, want.Epoch, want.Revision = "replica-2", rec.Epoch+1, rec.Revision+1
	want.Due = claimed.Now.Add(time.Minute)
	e.same("the record claimed", claimed.Records, []*driver.Record{want})
	e.same("the record stored", e.load("a"), want)
	want.State = []byte("further")
	e.update(want)
	e.same("the record after its new owner's write", e.load("a"), want)
}

func claimIgnoresDueOrder(e *env) {
	now := e.now()
	recs := several("r", 40, running)
	for i, rec := range recs {
		rec.Due = now.Add(-time.Duration(1+i*7%40) * time.Second)
	}
	e.create(recs...)
	slices.SortFunc(recs, func(a, b *driver.Record) int { return a.Due.Compare(b.Due) })
	e.same("the first claim", ids(e.claimDue(driver.Claim{Limit: 15})), ids(recs[:15]))
	e.same("the second claim", ids(e.claimDue(driver.Claim{Limit: 15})), ids(recs[15:30]))
	e.same("the third claim", ids(e.claimDue(driver.Claim{Limit: 15})), ids(recs[30:]))
}

func claimExceedsItsLimit(e *env) {
	now := e.now()
	e.create(several("r", 30, func(id string) *driver.Record { return dueAt(id, now.Add(-time.Second)) })...)
	for _, limit := range []int{1, 7, 20} {
		if n := len(e.claimDue(driver.Claim{Limit: limit})); n != limit {
			e.Fatalf("%d records claimed, want %d", n, limit)
		}
	}
	if n := len(e.claimDue(driver.Claim{Limit: 100})); n != 2 {
		e.Fatalf("%d records claimed of the 2 left", n)
	}
}

func undueRecordIsClaimed(e *env) {
	now := e.now()
	e.create(dueAt("a", now.Add(time.Minute)), dueAt("b", now.Add(24*365*time.Hour)))
	e.nothingDue("it is due later")
}

func recordWithoutDueTimeIsClaimed(e *env) {
	e.create(running("a"))
	e.nothingDue("it has no due time")
}

func parkedRecordIsClaimed(e *env) {
	created := dueAt("a", e.now().Add(-time.Minute))
	created.Parked = "for a person"
	updated := dueAt("b", e.now().Add(-time.Minute))
	e.create(created, updated)
	updated.Parked = "for a person"
	e.update(updated)
	e.nothingDue("it is parked")
	updated.Parked, updated.Due = "", e.now().Add(-time.Minute)
	e.update(updated)
	e.same("what is due after it was resumed", ids(e.claimDue(driver.Claim{})), []string{"b"})
}

func finalRecordIsClaimed(e *env) {
	for _, status := range []driver.Status{driver.Committed, driver.RolledBack, driver.InDoubt} {
		rec := dueAt(string(status), e.now().Add(-time.Minute))
		e.create(rec)
		rec.Status, rec.Finished = status, dawn()
		e.update(rec)
		created := dueAt("created-"+string(status), e.now().Add(-time.Minute))
		created.Status, created.Finished = status, dawn()
		e.create(created)
	}
	e.nothingDue("it is final")
}

// overtakenOwnerWrites: an owner that was too slow must not undo what its
// successor has done.
func overtakenOwnerWrites(e *env) {
	e.create(dueAt("a", e.now().Add(-time.Minute)))
	first := e.claimAt(e.store, driver.Claim{Owner: "replica-1", Lease: time.Millisecond}).Records
	if len(first) != 1 {
		e.Fatalf("the first owner got %v", ids(first))
	}
	var second []*driver.Record
	e.eventually("the lease ends", func() bool {
		second = e.claimAt(e.other, driver.Claim{Owner: "replica-2"}).Records
		return len(second) > 0
	})
	e.same("the second owner's epoch", second[0].Epoch, first[0].Epoch+1)
	e.same("the second owner's revision", second[0].Revision, first[0].Revision+1)
	e.late(first[0].Version(), first[0])
	// Not even one that guessed the revision.
	guessed := first[0].Version()
	guessed.Revision = second[0].Revision
	e.late(guessed, first[0])
	e.update(second[0])
}

func leaseIsIgnored(e *env) {
	e.create(dueAt("a", e.now().Add(-time.Minute)))
	e.claimDue(driver.Claim{Lease: time.Minute})
	e.nothingDue("it has an owner")
}

// leaseNeverEnds: what its owner dropped is picked up again, and not too early.
func leaseNeverEnds(e *env) {
	const lease = 200 * time.Millisecond
	e.create(dueAt("a", e.now().Add(-time.Minute)))
	first := e.claimAt(e.store, driver.Claim{Lease: lease})
	e.eventually("the lease ends", func() bool {
		second := e.claimAt(e.other, driver.Claim{Owner: "replica-2"})
		if len(second.Records) > 0 && second.Now.Before(first.Now.Add(lease)) {
			e.Fatalf("claimed again after %s, leased for %s", second.Now.Sub(first.Now), lease)
		}
		return len(second.Records) > 0
	})
}

func renewedLeaseEnds(e *env) {
	e.create(dueAt("a", e.now().Add(-time.Minute)))
	claimed := e.claimAt(e.store, driver.Claim{Lease: 50 * time.Millisecond})
	if len(claimed.Records) != 1 {
		e.Fatalf("claimed %v", ids(claimed.Records))
	}
	claimed.Records[0].Due = claimed.Now.Add(time.Hour)
	e.update(claimed.Records[0])
	e.eventually("the first lease is over",
		func() bool { return e.now().After(claimed.Now.Add(60 * time.Millisecond)) })
	e.nothingDue("its owner has renewed the lease")
}

// recordThatWaits returns a record that waits for a target.
func recordThatWaits(id, target string, due time.Time) *driver.Record {
	rec := dueAt(id, due)
	rec.Waits = target
	return rec
}

func targetWakesOthers(e *env) {
	later := e.now().Add(time.Hour)
	e.create(
		recordThatWaits("a", "pay", later.Add(time.Second)), recordThatWaits("b", "pay", later),
		recordThatWaits("c", "Pay", later),
		recordThatWaits("d", "pay.example", later), dueAt("e", e.now().Add(-time.Minute)), running("f"),
	)
	moved := recordThatWaits("g", "pay", later)
	e.create(moved)
	moved.Waits = "elsewhere"
	e.update(moved)
	e.same("what waits for the target", ids(e.claimDue(driver.Claim{Target: "pay", Limit: 1})), []string{"b"})
	e.same("what still waits for it", ids(e.claimDue(driver.Claim{Target: "pay"})), []string{"a"})
	e.same("what waits for the other", ids(e.claimDue(driver.Claim{Target: "elsewhere"})), []string{"g"})
	e.same("what is due by time", ids(e.claimDue(driver.Claim{})), []string{"e"})
}

func targetWakesTheWrongStatus(e *env) {
	parked, over := recordThatWaits("a", "pay", e.now().Add(time.Hour)),
		recordThatWaits("b", "pay", e.now().Add(time.Hour))
	e.create(parked, over)
	parked.Parked = "for a person"
	e.update(parked)
	over.Status, over.Finished = driver.RolledBack, dawn()
	e.update(over)
	if recs := e.claimDue(driver.Claim{Target: "pay"}); len(recs) > 0 {
		e.Fatalf("claimed %v, which are parked or final", ids(recs))
	}
}

// targetTakesFromTheOwner: a claimed record waits no longer, however it was
// claimed; else two owners of it would be at work.
func targetTakesFromTheOwner(e *env) {
	e.create(recordThatWaits("a", "pay", e.now().Add(time.Hour)), recordThatWaits("b", "pay", e.now().Add(-time.Hour)))
	recs := e.claimDue(driver.Claim{})
	recs = append(recs, e.claimDue(driver.Claim{Target: "pay"})...)
	e.same("what was claimed by time and by target", ids(recs), []string{"b", "a"})
	for _, rec := range recs {
		if rec.Waits != "" || e.load(rec.ID).Waits != "" {
			e.Errorf("%q still waits for %q after it was claimed", rec.ID, rec.Waits)
		}
	}
	if again := e.claimAt(e.other, driver.Claim{Target: "pay"}).Records; len(again) > 0 {
		e.Fatalf("claimed %v from their owner", ids(again))
	}
}

// clockIsWrong: the clock is a clock, and reading it changes nothing.
func clockIsWrong(e *env) {
	if off := time.Until(e.now()).Abs(); off > time.Minute {
		e.Fatalf("the store's clock is off by %s", off)
	}
	if _, err := e.store.Load(e.ctx(), "a"); !errors.Is(err, driver.ErrNotFound) {
		e.Fatalf("reading the clock created something: %v", err)
	}
}

func clockStandsStill(e *env) {
	first := e.now()
	e.eventually("the clock moves", func() bool {
		next := e.claimAt(e.other, driver.Claim{}).Now
		if next.Before(first) {
			e.Fatalf("the clock went back by %s", first.Sub(next))
		}
		return next.After(first.Add(10 * time.Millisecond))
	})
}

// clockIsNotTheClaims: deadlines counted from the one would be missed by the other.
func clockIsNotTheClaims(e *env) {
	before := e.now()
	claimed := e.claimAt(e.store, driver.Claim{}).Now
	after := e.now()
	if claimed.Before(before) || after.Before(claimed) {
		e.Fatalf("a claim between %s and %s says that it is %s", before, after, claimed)
	}
}
