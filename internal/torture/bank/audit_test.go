//go:build unix

package bank_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bedrock-go/bedrock/internal/torture/accounts"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
	"github.com/bedrock-go/bedrock/txn/driver"
)

// branchKey names one branch of one transaction.
type branchKey struct{ tx, branch string }

// books are everything that is left when all is quiet.
type books struct {
	records map[string]*driver.Record
	effects map[branchKey][]string // in order
	marks   map[branchKey][]mark
	sums    accounts.Sums
}

// mark is a row of the barrier.
type mark struct{ op, cause string }

// readRecords reads all records of a store.
func readRecords(ctx context.Context, store driver.Store) (map[string]*driver.Record, error) {
	records := make(map[string]*driver.Record)
	q := driver.Query{Limit: 1000, Brief: true}
	for {
		page, err := store.List(ctx, q)
		if err != nil || len(page) == 0 {
			return records, err
		}
		for _, rec := range page {
			records[rec.ID] = rec
		}
		q.Before = page[len(page)-1].Cursor()
	}
}

// read fills the books from the accounts.
func (b *books) read(ctx context.Context, a *accounts.Accounts) (err error) {
	b.effects, b.marks = make(map[branchKey][]string), make(map[branchKey][]mark)
	b.sums, err = a.Sums(ctx)
	return errors.Join(err,
		eachRow(ctx, a.DB, "SELECT tx, branch, op, '' FROM effect ORDER BY seq", func(k branchKey, op, _ string) {
			b.effects[k] = append(b.effects[k], op)
		}),
		eachRow(ctx, a.DB, "SELECT transaction_id, branch, op, cause FROM bedrock_barrier",
			func(k branchKey, op, cause string) {
				b.marks[k] = append(b.marks[k], mark{op, cause})
			}))
}

// eachRow reads rows of four texts.
func eachRow(ctx context.Context, db *sql.DB, query string, see func(k branchKey, op, cause string)) error {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var k branchKey
		var op, cause string
		if err := rows.Scan(&k.tx, &k.branch, &op, &cause); err != nil {
			return err
		}
		see(k, op, cause)
	}
	return rows.Err()
}

// audit lists what is wrong with the books.
func (b *books) audit() []string {
	wrong := b.money()
	for _, id := range slices.Sorted(maps.Keys(b.records)) {
		rec := b.records[id]
		wrong = append(wrong, settled(rec)...)
		for _, branch := range []string{"debit", "credit"} {
			wrong = append(wrong, b.branch(rec, branch)...)
		}
		if rec.Mode == "msg" {
			wrong = append(wrong, b.produced(rec)...)
		}
	}
	for k := range b.effects {
		if b.records[k.tx] == nil {
			wrong = append(wrong,
				fmt.Sprintf("%s: %s had the effects %v, but there is no such transaction",
					k.tx, k.branch, b.effects[k]))
		}
	}
	return wrong
}

// money must neither be lost nor made, held nor owed.
func (b *books) money() []string {
	var wrong []string
	if b.sums.Balance != numAccounts*opening {
		wrong = append(wrong,
			fmt.Sprintf("accounts hold %d, and held %d at first", b.sums.Balance, numAccounts*opening))
	}
	if b.sums.Frozen != 0 || b.sums.Coming != 0 {
		wrong = append(wrong, fmt.Sprintf("%d are still frozen, %d still to come", b.sums.Frozen, b.sums.Coming))
	}
	if b.sums.Least < 0 {
		wrong = append(wrong, fmt.Sprintf("an account holds %d", b.sums.Least))
	}
	return wrong
}

// settled complains about a record that is not at its end.
func settled(rec *driver.Record) []string {
	switch {
	case rec.Status != driver.Committed && rec.Status != driver.RolledBack:
		return []string{fmt.Sprintf("%s is %s (parked: %q)", rec.ID, rec.Status, rec.Parked)}
	case rec.Owner != "" || !rec.Due.IsZero() || rec.Finished.IsZero():
		return []string{
			fmt.Sprintf("%s is %s, with owner %q, due %v, finished %v",
				rec.ID, rec.Status, rec.Owner, rec.Due, rec.Finished),
		}
	default:
		return nil
	}
}

// branch compares a branch's effects and marks with the outcome.
func (b *books) branch(rec *driver.Record, branch string) []string {
	k := branchKey{rec.ID, branch}
	want := accounts.Allowed(rec.Mode, branch, rec.Status == driver.Committed)
	var wrong []string
	if !slices.ContainsFunc(want, func(w []string) bool { return slices.Equal(w, b.effects[k]) }) {
		wrong = append(wrong,
			fmt.Sprintf("%s is %s, but %s had the effects %v", rec.ID, rec.Status, branch, b.effects[k]))
	}
	if branch == "debit" && rec.Mode == "msg" {
		return wrong // the producer's; see produced
	}
	ran, undone := b.marked(k)
	if effects := slices.Sorted(slices.Values(b.effects[k])); !slices.Equal(ran, effects) {
		wrong = append(wrong,
			fmt.Sprintf("%s: %s has marks of %v, but had the effects %v", rec.ID, branch, ran, effects))
	}
	if undone && rec.Status == driver.Committed {
		wrong = append(wrong, fmt.Sprintf("%s is committed, but %s has the marks %v", rec.ID, branch, b.marks[k]))
	}
	return wrong
}

// marked lists the operations whose work a branch's marks say was done, and tells
// whether the branch was asked to take something back. That has done something only
// if there was something to take back, which is what the other mark says.
func (b *books) marked(k branchKey) (ran []string, undone bool) {
	for _, m := range b.marks[k] {
		origin, back := barrier.Origin(m.op)
		if m.op == m.cause && (!back || slices.Contains(b.marks[k], mark{origin, origin})) {
			ran = append(ran, m.op)
		}
		_, back = barrier.Origin(m.cause)
		undone = undone || back
	}
	slices.Sort(ran)
	return ran, undone
}

// produced compares the mark of a message's producer with the outcome: prepared by
// its local transaction, or shut by the question after it.
func (b *books) produced(rec *driver.Record) []string {
	marks := b.marks[branchKey{tx: rec.ID}]
	prepared := slices.Contains(marks, mark{"msg", "msg"})
	if prepared != (rec.Status == driver.Committed) || len(marks) > 1 {
		return []string{fmt.Sprintf("%s is %s, but its producer has the marks %v", rec.ID, rec.Status, marks)}
	}
	return nil
}

// settle waits until everything has come to its end, and nothing is on its way.
func (c *cell) settle(healed time.Time) {
	c.t.Helper()
	ctx, cancel := context.WithDeadline(context.Background(), healed.Add(bound))
	defer cancel()
	if left, err := allFinal(ctx, c.store); err != nil {
		c.t.Errorf("%d transactions are not final %v after the last fault; the first: %+v",
			len(left), bound, left[:min(1, len(left))])
	}
	ctx, cancel = context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := until(ctx, func() bool { return c.pendingCalls() == "0" }); err != nil {
		c.t.Errorf("calls are still under way at the service: %s", c.pendingCalls())
	}
}

// allFinal waits until all transactions are final, and returns those that are not.
func allFinal(ctx context.Context, store driver.Store) (left []*driver.Record, err error) {
	err = until(ctx, func() bool {
		list, failed := unfinished(ctx, store)
		if failed == nil {
			left = list
		}
		return failed == nil && len(list) == 0
	})
	return left, err
}

// unfinished lists transactions that are not final.
func unfinished(ctx context.Context, store driver.Store) ([]*driver.Record, error) {
	return store.List(ctx, driver.Query{
		Status: []driver.Status{driver.Open, driver.Running, driver.Committing, driver.RollingBack}, Limit: 1000,
	})
}

func (c *cell) pendingCalls() string {
	resp, err := c.http.Get(c.service.url() + "/pending")
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return string(text)
}

// audit closes everything, and compares what is left with what clients were told.
func (c *cell) audit() map[string]*driver.Record {
	c.t.Helper()
	before, err := readRecords(c.t.Context(), c.store)
	for _, p := range append(c.replicas, c.service) {
		err = errors.Join(err, p.stop())
	}
	b := &books{}
	var failed error
	if b.records, failed = readRecords(c.t.Context(), c.store); failed != nil {
		c.t.Fatal(failed)
	}
	a, failed := openAccounts(c.t.Context(), c.service.settings.Accounts)
	if failed != nil {
		c.t.Fatal(failed)
	}
	err = errors.Join(err, b.read(c.t.Context(), a), a.DB.Close())
	if err != nil {
		c.t.Error(err)
	}
	c.complain(append(b.audit(), c.asTold(before, b.records)...))
	return b.records
}

// complain shows the first few things that are wrong.
func (c *cell) complain(wrong []string) {
	const some = 20
	if len(wrong) > 0 {
		c.t.Errorf("%d things are wrong:\n%s", len(wrong), strings.Join(wrong[:min(some, len(wrong))], "\n"))
	}
}

// asTold compares outcomes with what clients were told, and with what the store
// said before the replicas were stopped.
func (c *cell) asTold(before, after map[string]*driver.Record) []string {
	var wrong []string
	for id, t := range c.told {
		rec := after[id]
		switch {
		case rec == nil:
			wrong = append(wrong, fmt.Sprintf("%s was %s to its client, but does not exist", id, t.result.Outcome))
		case t.result.Outcome != rec.Status:
			wrong = append(wrong, fmt.Sprintf("%s was %s to its client, but is %s", id, t.result.Outcome, rec.Status))
		case t.transfer.fails() && rec.Status == txn.Committed:
			wrong = append(wrong, fmt.Sprintf("%s is committed, although it was to fail: %s", id, t.transfer.Fate))
		}
	}
	for id, rec := range after {
		if was := before[id]; was == nil || was.Status != rec.Status {
			wrong = append(wrong, fmt.Sprintf("%s has changed after its end: %+v, %+v", id, was, rec))
		}
		if _, known := c.told[id]; !known {
			wrong = append(wrong, fmt.Sprintf("%s exists, but no client was told of its end", id))
		}
	}
	return wrong
}

// bound is how long after the last fault everything must have come to its end.
const bound = 60 * time.Second
