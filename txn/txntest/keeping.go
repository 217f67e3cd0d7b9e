package txntest

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// keeping: what is written is what is read.
func keeping() []behaviour {
	return []behaviour{
		{"ZeroTimeBecomesATime", zeroTimeBecomesATime},
		{"MicrosecondsAreLost", microsecondsAreLost},
		{"ZoneShiftsATime", zoneShiftsATime},
		{"LargeBlobIsCut", largeBlobIsCut},
		{"BytesOfABlobChange", bytesOfABlobChange},
		{"EmptyBlobBecomesSomething", emptyBlobBecomesSomething},
		{"IDsAreConfused", idsAreConfused},
		{"TextIsMangled", textIsMangled},
		{"LongTextIsCut", longTextIsCut},
		{"RefusalLooksPassing", refusalLooksPassing},
	}
}

// keeps checks that a record comes back as it was given, by Create and by
// Update.
func (e *env) keeps(rec *driver.Record) {
	e.Helper()
	e.create(rec)
	e.same("the record created", e.load(rec.ID), rec)
	rec.Updated = rec.Updated.Add(time.Second)
	e.update(rec)
	e.same("the record updated", e.load(rec.ID), rec)
}

func zeroTimeBecomesATime(e *env) {
	rec := running("a")
	e.keeps(rec)
	got := e.load("a")
	if !got.Due.IsZero() || !got.Deadline.IsZero() || !got.Finished.IsZero() {
		e.Fatalf("due %v, deadline %v, finished %v; want zero times", got.Due, got.Deadline, got.Finished)
	}
}

func microsecondsAreLost(e *env) {
	for i, nanos := range []int{1_000, 10_000, 999_999_000, 500_001_000} {
		rec := full(string(rune('a' + i)))
		for _, t := range []*time.Time{&rec.Due, &rec.Deadline, &rec.Created, &rec.Updated, &rec.Finished} {
			*t = t.Truncate(time.Second).Add(time.Duration(nanos))
		}
		e.keeps(rec)
	}
}

func zoneShiftsATime(e *env) {
	rec, east := full("a"), time.FixedZone("east", 9*3600)
	for _, t := range []*time.Time{&rec.Due, &rec.Deadline, &rec.Created, &rec.Updated, &rec.Finished} {
		*t = t.In(east)
	}
	e.keeps(rec)
}

// largeBlobIsCut: a megabyte is what a user may submit by default, and what
// happens with it may be as much.
func largeBlobIsCut(e *env) {
	const megabyte = 1 << 20
	rec := running("a")
	rec.Spec, rec.State = bytes.Repeat([]byte("spec"), megabyte/4), bytes.Repeat([]byte("state"), megabyte/5)
	e.keeps(rec)
	recs := e.list(driver.Query{})
	if len(recs) != 1 || !bytes.Equal(recs[0].Spec, rec.Spec) || !bytes.Equal(recs[0].State, rec.State) {
		e.Fatal("the list has another blob")
	}
}

func bytesOfABlobChange(e *env) {
	rec := running("a")
	for b := range 256 {
		rec.Spec = append(rec.Spec, byte(b))
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		rec.State = append(rec.State, byte(random.UintN(256)))
	}
	e.keeps(rec)
}

func emptyBlobBecomesSomething(e *env) {
	rec := running("a")
	rec.Spec, rec.State = nil, []byte{}
	e.keeps(rec)
}

// idsAreConfused: names that differ in their case only are two names, and no
// character means anything to the store.
func idsAreConfused(e *env) {
	names := []string{
		"job", "Job", "JOB", "job.1", "job:1", "job-1", "job_1", "-", ".", "0", "00", "it's", `say "hi"`, "a`b",
		`back\slash`,
		"%", "a%", "*", "[a]", "{1}", "a;b", "--", "x'; DROP TABLE bedrock_tx; --", strings.Repeat("x", 128),
		strings.Repeat("X", 128),
	}
	for i, name := range names {
		rec := running(name)
		rec.State = []byte{byte(i)}
		e.create(rec)
	}
	for i, name := range names {
		rec := e.load(name)
		if rec.ID != name || len(rec.State) != 1 || rec.State[0] != byte(i) {
			e.Fatalf("load %q: got %q with the state of another", name, rec.ID)
		}
		rec.State = append(rec.State, 'u')
		e.update(rec)
		e.same("the record updated", e.load(name), rec)
	}
}

func textIsMangled(e *env) {
	rec := full("a")
	rec.Name, rec.Parked = "Bestellung №1 🧾", "said:\n\t'no' \\ \"never\" – 不行"
	rec.Waits, rec.Owner = "https://päy.example:8443/x?y=%20", "host-ü/42"
	e.keeps(rec)
}

func longTextIsCut(e *env) {
	rec := full("a")
	for _, c := range textColumns(rec) {
		*c.text = strings.Repeat("x", c.most)
	}
	e.keeps(rec)
}

// column is a text of a record and its limit.
type column struct {
	name string
	text *string
	most int
}

func textColumns(rec *driver.Record) []column {
	return []column{
		{"ID", &rec.ID, driver.MaxID},
		{"mode", &rec.Mode, driver.MaxMode},
		{"name", &rec.Name, driver.MaxName},
		{"digest", &rec.Digest, driver.MaxDigest},
		{"parked", &rec.Parked, driver.MaxParked},
		{"waits", &rec.Waits, driver.MaxWaits},
		{"owner", &rec.Owner, driver.MaxOwner},
	}
}

// refusalLooksPassing: what can never be written must not look like an outage, or it is
// tried for ever. It must not be written in part, either.
func refusalLooksPassing(e *env) {
	e.create(running("old"))
	was := e.load("old")
	for i := range textColumns(&driver.Record{}) {
		for what, change := range map[string]func(column){
			"too long": func(c column) { *c.text = strings.Repeat("x", c.most+1) },
			"no text":  func(c column) { *c.text += "\xff" },
			"a zero":   func(c column) { *c.text += "\x00" },
		} {
			rec := running("new")
			c := textColumns(rec)[i]
			change(c)
			if err := e.store.Create(e.ctx(), rec); !errors.Is(err, driver.ErrRefused) {
				e.Fatalf("create with %s %s: %v; want ErrRefused", c.name, what, err)
			}
			if c.name == "ID" {
				continue
			}
			rec.ID = "old"
			if err := e.store.Update(e.ctx(), was.Version(), rec); !errors.Is(err, driver.ErrRefused) {
				e.Fatalf("update with %s %s: %v; want ErrRefused", c.name, what, err)
			}
		}
	}
	e.same("the record", e.load("old"), was)
}
