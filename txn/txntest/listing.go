package txntest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// listing: people find what they look for.
func listing() []behaviour {
	return []behaviour{
		{"ListIsUnordered", listIsUnordered},
		{"PageRepeatsOrSkips", pageRepeatsOrSkips},
		{"PageDependsOnItsCursor", pageDependsOnItsCursor},
		{"ListHasNoBound", listHasNoBound},
		{"ListIsIncomplete", listIsIncomplete},
		{"BriefListHasBlobs", briefListHasBlobs},
	}
}

// newestFirst is the order of List: newest first, and what is equally old by ID,
// the last first, so that the cursor is one comparison.
func newestFirst(a, b *driver.Record) int {
	return cmp.Or(b.Created.Compare(a.Created), strings.Compare(b.ID, a.ID))
}

// spread makes records of which many are equally old.
func (e *env) spread(n int) []*driver.Record {
	recs := several("r", n, running)
	for i, rec := range recs {
		rec.Created = dawn().Add(time.Duration(i*7%5) * time.Microsecond)
	}
	e.create(recs...)
	slices.SortFunc(recs, newestFirst)
	return recs
}

func listIsUnordered(e *env) {
	recs := append(e.spread(30), e.alike()...)
	slices.SortFunc(recs, newestFirst)
	recs[7].State = []byte("an update does not move a record")
	e.update(recs[7])
	e.same("the list", ids(e.list(driver.Query{})), ids(recs))
}

// alike makes records that are hard to tell apart: equally old, in one shard, the
// name of each the beginning of the next, and every other one final.
func (e *env) alike() []*driver.Record {
	var recs []*driver.Record
	id := "s"
	for suffix := 0; len(recs) < 4; suffix++ {
		if next := fmt.Sprint(id, suffix); driver.Shard(next) == 5 {
			recs = append(recs, running(next))
			id, suffix = next, 0
		}
	}
	recs[1].Status, recs[3].Status = driver.Committed, driver.Committed
	e.create(recs...)
	return recs
}

func pageRepeatsOrSkips(e *env) {
	recs := e.spread(23)
	for _, size := range []int{1, 4, 23, 50} {
		var got []string
		q := driver.Query{Limit: size}
		for page := e.list(q); len(page) > 0; page = e.list(q) {
			if len(page) > size {
				e.Fatalf("a page of %d records, want %d at most", len(page), size)
			}
			got = append(got, ids(page)...)
			q.Before = page[len(page)-1].Cursor()
		}
		e.same("all pages", got, ids(recs))
	}
}

// pageDependsOnItsCursor: the record named by a cursor may be gone, and new ones
// may have come.
func pageDependsOnItsCursor(e *env) {
	first, cursor, last := final("c"), final("b"), final("a")
	e.create(first, cursor, last)
	e.remove(1, cursor)
	newer := running("d")
	newer.Created = dawn().Add(time.Hour)
	e.create(newer)
	e.same("what comes after a record that is gone", ids(e.list(driver.Query{Before: cursor.Cursor()})), []string{"a"})
}

func listHasNoBound(e *env) {
	e.create(several("r", 103, running)...)
	if n := len(e.list(driver.Query{})); n != 100 {
		e.Fatalf("a list without a limit has %d records, want 100", n)
	}
	if n := len(e.list(driver.Query{Limit: 200})); n != 103 {
		e.Fatalf("a list of 103 records has %d", n)
	}
}

func listIsIncomplete(e *env) {
	rec := full("a")
	e.create(rec)
	e.same("the list", e.list(driver.Query{}), []*driver.Record{rec})
}

func briefListHasBlobs(e *env) {
	rec := full("a")
	e.create(rec)
	want := rec.Clone()
	want.Spec, want.State = nil, nil
	e.same("the brief list", e.list(driver.Query{Brief: true}), []*driver.Record{want})
	e.same("the record after a brief list", e.load("a"), rec)
}
