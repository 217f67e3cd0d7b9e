package txntest

import (
	"slices"
	"time"

	"github.com/bedrock-go/bedrock/txn/driver"
)

// filtering: a query selects what it says, and nothing else.
func filtering() []behaviour {
	return []behaviour{
		{"StatusDoesNotSelect", statusDoesNotSelect},
		{"ModeDoesNotSelect", modeDoesNotSelect},
		{"NameDoesNotSelect", nameDoesNotSelect},
		{"PrefixIsAPattern", prefixIsAPattern},
		{"ParkedDoesNotSelect", parkedDoesNotSelect},
		{"FinishedBeforeDoesNotSelect", finishedBeforeDoesNotSelect},
		{"SelectionBreaksPages", selectionBreaksPages},
		{"SelectionMissesAChange", selectionMissesAChange},
		{"KeptRecordIsListed", keptRecordIsListed},
	}
}

// selects checks what a query finds.
func (e *env) selects(q driver.Query, want ...string) {
	e.Helper()
	got := ids(e.list(q))
	slices.Sort(got)
	slices.Sort(want)
	e.same("what the query selects", got, want)
}

func statusDoesNotSelect(e *env) {
	for _, status := range driver.Statuses() {
		rec := running(string(status))
		rec.Status = status
		e.create(rec)
	}
	e.selects(driver.Query{Status: []driver.Status{driver.Committing}}, "committing")
	e.selects(driver.Query{Status: []driver.Status{driver.Committed, driver.InDoubt, driver.Open}},
		"committed", "in-doubt", "open")
	e.selects(driver.Query{Status: []driver.Status{"commit"}})
}

func modeDoesNotSelect(e *env) {
	for _, mode := range []string{"saga", "tcc", "msg"} {
		rec := running(mode)
		rec.Mode = mode
		e.create(rec)
	}
	e.selects(driver.Query{Modes: []string{"tcc"}}, "tcc")
	e.selects(driver.Query{Modes: []string{"tcc", "msg", "xa"}}, "tcc", "msg")
	e.selects(driver.Query{Modes: []string{"sag"}})
}

func nameDoesNotSelect(e *env) {
	for _, name := range []string{"order", "Order", "orders", ""} {
		rec := running("of-" + name)
		rec.Name = name
		e.create(rec)
	}
	e.selects(driver.Query{Name: "order"}, "of-order")
	e.selects(driver.Query{Name: "order%"})
}

func prefixIsAPattern(e *env) {
	for _, id := range []string{
		"a", "ab", "abc", "Abc", "b", "x%y", "x%", "xzy", "x_y", "x-y", "x*y", "x?y", "x[y]", "xy", `x\y`, `x\%`, "x'y",
	} {
		e.create(running(id))
	}
	e.selects(driver.Query{Prefix: "ab"}, "ab", "abc")
	e.selects(driver.Query{Prefix: "A"}, "Abc")
	e.selects(driver.Query{Prefix: "x%"}, "x%", "x%y")
	e.selects(driver.Query{Prefix: "x_"}, "x_y")
	e.selects(driver.Query{Prefix: "x*"}, "x*y")
	e.selects(driver.Query{Prefix: "x?"}, "x?y")
	e.selects(driver.Query{Prefix: "x["}, "x[y]")
	e.selects(driver.Query{Prefix: `x\`}, `x\y`, `x\%`)
	e.selects(driver.Query{Prefix: "x'"}, "x'y")
	e.selects(driver.Query{Prefix: "zz"})
}

func parkedDoesNotSelect(e *env) {
	parked := running("a")
	parked.Parked = "for a person"
	e.create(parked, running("b"))
	e.selects(driver.Query{Parked: true}, "a")
	e.selects(driver.Query{}, "a", "b")
}

func finishedBeforeDoesNotSelect(e *env) {
	for id, age := range map[string]time.Duration{
		"old": 0, "just": time.Hour - time.Microsecond, "exact": time.Hour, "new": 2 * time.Hour,
	} {
		rec := final(id)
		rec.Finished = dawn().Add(age)
		e.create(rec)
	}
	e.create(running("unfinished"))
	e.selects(driver.Query{FinishedBefore: dawn().Add(time.Hour)}, "old", "just")
	e.selects(driver.Query{FinishedBefore: dawn()})
}

// selectionBreaksPages: several conditions hold together, on every page.
func selectionBreaksPages(e *env) {
	recs := several("r", 60, running)
	var want []*driver.Record
	for i, rec := range recs {
		rec.Created = dawn().Add(time.Duration(i%4) * time.Second)
		rec.Status = [...]driver.Status{driver.Running, driver.Committed}[i%2]
		rec.Mode = [...]string{"saga", "tcc", "msg"}[i%3]
		if i%2 == 1 && i%3 == 1 {
			want = append(want, rec)
		}
	}
	e.create(recs...)
	slices.SortFunc(want, newestFirst)
	q := driver.Query{
		Status: []driver.Status{driver.Committed}, Modes: []string{"tcc"}, Name: "order", Prefix: "r-", Limit: 3,
	}
	var got []string
	for page := e.list(q); len(page) > 0; page = e.list(q) {
		got = append(got, ids(page)...)
		q.Before = page[len(page)-1].Cursor()
	}
	e.same("all pages", got, ids(want))
}

// selectionMissesAChange: a query selects by what a record is now.
func selectionMissesAChange(e *env) {
	rec := running("a")
	e.create(rec)
	rec.Parked = "for a person"
	e.update(rec)
	e.selects(driver.Query{Parked: true}, "a")
	rec.Parked, rec.Status, rec.Finished = "", driver.Committed, dawn()
	e.update(rec)
	e.selects(driver.Query{Parked: true})
	e.selects(driver.Query{Status: []driver.Status{driver.Running}})
	e.selects(driver.Query{Status: []driver.Status{driver.Committed}}, "a")
	e.selects(driver.Query{FinishedBefore: dawn().Add(time.Second)}, "a")
}

// keptRecordIsListed: whoever looks for transactions finds nothing else.
func keptRecordIsListed(e *env) {
	rec := running("a/topic")
	rec.Status = driver.Kept
	e.create(rec, running("transaction"))
	for _, q := range []driver.Query{{}, {Modes: []string{rec.Mode}}, {Prefix: "a"}, {Name: rec.Name}} {
		for _, found := range e.list(q) {
			if found.ID == rec.ID {
				e.Errorf("%+v finds %s", q, found.ID)
			}
		}
	}
	e.selects(driver.Query{Status: []driver.Status{driver.Kept}})
	e.same("the record", e.load(rec.ID), rec)
}
