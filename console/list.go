package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/internal/nearest"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/driver"
	"github.com/bedrock-go/bedrock/txn/modes"
)

// rowsPerPage is how many transactions a page lists.
const rowsPerPage = 50

// listing is the page of all transactions.
type listing struct {
	Filter filter
	Tabs   []tab
	Modes  []string
	Rows   []row
	Older  string // the next page; empty at the end
	Newest string // the first page; empty on it
}

// filter is what the address says should be listed.
type filter struct {
	Status string // a status, "parked", or empty for all
	Mode   string
	Name   string
	Prefix string
	Before string
}

// tab is one way to filter by status.
type tab struct {
	Label, Href, Count string
	Current            bool
}

// row is one transaction of a list.
type row struct {
	*txn.Transaction

	Age  string
	Took string
}

// list answers with the transactions.
func (c *console) list(w http.ResponseWriter, r *http.Request) {
	f, query, err := wanted(r.URL.Query())
	if err != nil {
		c.writeError(w, r, err)
		return
	}
	found, err := c.transactions.List(r.Context(), query)
	if err != nil {
		c.writeError(w, r, err)
		return
	}
	page := listing{Filter: f, Modes: modes.Names(), Rows: c.rows(found.Transactions)}
	page.Tabs = f.tabs(c.counts.get(r.Context()))
	if f.Before != "" {
		page.Newest = f.with("").href()
	}
	if found.Next.ID != "" {
		page.Older = f.with(cursorText(found.Next)).href()
	}
	c.render(w, http.StatusOK, "list", frame{Title: "Transactions", Section: "transactions", Page: page})
}

func (c *console) rows(found []*txn.Transaction) []row {
	rows, now := make([]row, len(found)), c.now()
	for i, t := range found {
		rows[i] = row{Transaction: t, Age: ago(now.Sub(t.Created)), Took: took(t, now)}
	}
	return rows
}

// took is how long a transaction has lasted.
func took(t *txn.Transaction, now time.Time) string {
	if !t.Finished.IsZero() {
		now = t.Finished
	}
	return brief(now.Sub(t.Created))
}

// wanted reads what an address asks for.
func wanted(q url.Values) (filter, txn.Query, error) {
	f := filter{
		Status: q.Get("status"), Mode: q.Get("mode"), Name: strings.TrimSpace(q.Get("name")),
		Prefix: strings.TrimSpace(q.Get("prefix")), Before: q.Get("before"),
	}
	if err := f.park(q.Get(parkedFilter)); err != nil {
		return f, txn.Query{}, err
	}
	query, err := f.query()
	return f, query, err
}

// park understands parked=true, which is how the API and the command line write it.
func (f *filter) park(text string) error {
	if text == "" {
		return nil
	}
	parked, err := strconv.ParseBool(text)
	switch {
	case err != nil:
		return input.Errorf(parkedFilter, "%.40q is neither true nor false", text)
	case parked && f.Status != "" && f.Status != parkedFilter:
		return input.Errorf(parkedFilter, "stands for itself: give it or a status")
	case parked:
		f.Status = parkedFilter
	}
	return nil
}

func (f filter) with(before string) filter {
	f.Before = before
	return f
}

// href is the address of a filter.
func (f filter) href() string {
	q := url.Values{}
	for _, field := range [][2]string{
		{"status", f.Status}, {"mode", f.Mode}, {"name", f.Name}, {"prefix", f.Prefix}, {"before", f.Before},
	} {
		if field[1] != "" {
			q.Set(field[0], field[1])
		}
	}
	if len(q) == 0 {
		return listPath
	}
	return listPath + "?" + q.Encode()
}

// Narrow reports whether more than the status selects.
func (f filter) Narrow() bool { return f.Mode != "" || f.Name != "" || f.Prefix != "" }

// parkedFilter stands beside the states: parked is not one of them.
const parkedFilter = "parked"

func (f filter) query() (txn.Query, error) {
	q := txn.Query{Mode: f.Mode, Name: f.Name, Prefix: f.Prefix, Limit: rowsPerPage}
	switch {
	case f.Status == parkedFilter:
		q.Parked = true
	case slices.Contains(statuses(), txn.Status(f.Status)):
		q.Status = []txn.Status{txn.Status(f.Status)}
	case f.Status != "":
		return q, unknownWord("status", f.Status, statusNames())
	}
	if f.Mode != "" && !slices.Contains(modes.Names(), f.Mode) {
		return q, modes.Unknown(f.Mode)
	}
	var err error
	q.Before, err = parseCursor(f.Before)
	return q, err
}

// unknownWord says what may be meant by a word that is none of those wanted.
func unknownWord(field, word string, want []string) error {
	return input.Errorf(field, "%.40q is not known%s; want one of %s",
		word, nearest.Hint(word, want), strings.Join(want, ", "))
}

func statusNames() []string {
	names := []string{parkedFilter}
	for _, s := range statuses() {
		names = append(names, string(s))
	}
	return names
}

// cursorText and parseCursor put a place in the list into an address.
func cursorText(c driver.Cursor) string {
	return strconv.FormatInt(c.Created.UnixMicro(), 10) + "-" + c.ID
}

func parseCursor(text string) (driver.Cursor, error) {
	if text == "" {
		return driver.Cursor{}, nil
	}
	micros, id, ok := strings.Cut(text, "-")
	n, err := strconv.ParseInt(micros, 10, 64)
	if !ok || err != nil || id == "" {
		return driver.Cursor{}, input.Errorf("before", "is no place in the list")
	}
	return driver.Cursor{Created: time.UnixMicro(n).UTC(), ID: id}, nil
}

// tabs offers the states, with how many there are of each.
func (f filter) tabs(counts *driver.Counts) []tab {
	tabs := []tab{f.tab("All", "", "")}
	tabs = append(tabs, f.tab("Parked", parkedFilter, countOf(counts, func() int { return counts.Parked })))
	for _, s := range statuses() {
		count := countOf(counts, func() int { return counts.ByStatus[s] })
		tabs = append(tabs, f.tab(title(string(s)), string(s), count))
	}
	return tabs
}

func (f filter) tab(label, status, count string) tab {
	current := f.Status == status
	f.Status, f.Before = status, ""
	return tab{Label: label, Href: f.href(), Count: count, Current: current}
}

func countOf(counts *driver.Counts, n func() int) string {
	if counts == nil {
		return ""
	}
	return grouped(n())
}
