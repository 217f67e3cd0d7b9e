package barrier_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/coord"
	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
	"github.com/bedrock-go/bedrock/txn/memstore"
)

// coordinator knows some transactions.
type coordinator struct {
	txn.Inspector

	known map[string]*txn.Transaction
	fails bool
	asked int
}

func (c *coordinator) Get(_ context.Context, id string) (*txn.Transaction, error) {
	c.asked++
	if c.fails {
		return nil, txn.ErrUnavailable
	}
	if t := c.known[id]; t != nil {
		return t, nil
	}
	return nil, txn.ErrNotFound
}

func (e *engine) marks(t *testing.T) int {
	t.Helper()
	n := 0
	if err := e.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+e.table()).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// age makes the marks of transactions that begin like this older.
func (e *engine) age(t *testing.T, prefix string, by time.Duration) {
	t.Helper()
	switch {
	case e.native():
		e.exec(
			t, "UPDATE bedrock_barrier SET created = created - ? WHERE transaction_id LIKE ?", by.Microseconds(),
			prefix+"%",
		)
	case e.dialect == barrier.MySQL:
		e.exec(
			t, "UPDATE "+e.table()+" SET create_time = DATE_SUB(create_time, INTERVAL ? SECOND) WHERE gid LIKE ?",
			int(by.Seconds()), prefix+"%",
		)
	default:
		e.exec(
			t, "UPDATE "+e.table()+" SET create_time = create_time - ? * INTERVAL '1 second' WHERE gid LIKE ?",
			int(by.Seconds()), prefix+"%",
		)
	}
}

func testClean(t *testing.T, e *engine) {
	e.exec(t, "DELETE FROM "+e.table())
	now := time.Now()
	long, short := now.Add(-30*time.Hour), now.Add(-time.Hour)
	c := &coordinator{known: map[string]*txn.Transaction{
		"old:running":   {Status: txn.Running},
		"old:parked":    {Status: txn.RollingBack, Parked: "help"},
		"old:committed": {Status: txn.Committed, Finished: long},
		"old:back":      {Status: txn.RolledBack, Finished: long},
		"old:doubt":     {Status: txn.InDoubt, Finished: long},
		"old:just":      {Status: txn.Committed, Finished: short}, // ran for days, ended an hour ago
		"new:committed": {Status: txn.Committed, Finished: long},
	}}
	ids := []string{"old:unknown", "new:unknown"}
	for known := range c.known {
		ids = append(ids, known)
	}
	for _, transaction := range ids {
		for _, op := range []string{"action", "compensate"} {
			e.do(t, call(transaction, op), e.account(t).add(1, ""), barrier.Ran, "")
		}
	}
	e.age(t, "old:", 25*time.Hour)
	c.fails = true
	if n, err := e.b.Clean(t.Context(), c, nil); n != 0 || !errors.Is(err, txn.ErrUnavailable) {
		t.Errorf("without its coordinator: %d removed, %v", n, err)
	}
	c.fails, c.asked = false, 0
	want := 2 * 4
	if !e.native() {
		want = 2 * 3 // what is unknown may be DTM's
	}
	if n, err := e.b.Clean(t.Context(), c, &barrier.CleanOptions{Batch: 3}); n != want || err != nil {
		t.Errorf("%d removed, %v; want %d", n, err, want)
	}
	if c.asked > 2*7 {
		t.Errorf("asked %d times for 7 transactions", c.asked)
	}
	if n := e.marks(t); n != 2*len(ids)-want {
		t.Errorf("%d marks are left", n)
	}
	for _, transaction := range []string{"old:running", "old:parked", "old:just", "new:committed", "new:unknown"} {
		e.do(t, call(transaction, "compensate"), nil, barrier.Duplicate, "")
	}
	e.age(t, "", 2*time.Second) // DTM's clock counts seconds
	n, err := e.b.Clean(t.Context(), c, &barrier.CleanOptions{Age: -1, Unknown: time.Millisecond})
	if left := e.marks(t); err != nil || left != 2*2 {
		t.Errorf("asked for no age: %d removed, %d left, %v; want running and parked to stay", n, left, err)
	}
}

// TestCleanGoesThroughEverything: more marks than fit a batch, all of one instant,
// some of which stay.
func TestCleanGoesThroughEverything(t *testing.T) {
	t.Parallel()
	e := open(t, "sqlite", sqliteDSN(t.TempDir()+"/x.db"), barrier.SQLite, barrier.Native)
	c := &coordinator{known: map[string]*txn.Transaction{}}
	const transactions = 500
	for i := range transactions {
		name := fmt.Sprintf("t%03d", i)
		status := txn.Committed
		if i%3 == 0 {
			status = txn.Running
		}
		c.known[name] = &txn.Transaction{Status: status}
		e.do(t, call(name, "action"), e.account(t).add(0, ""), barrier.Ran, "")
	}
	e.exec(t, "UPDATE bedrock_barrier SET created = created / 2000000000 * 1000000000") // two days and longer ago
	n, err := e.b.Clean(t.Context(), c, &barrier.CleanOptions{Batch: 7})
	if left := e.marks(t); n != 333 || left != 167 || err != nil {
		t.Errorf("%d removed, %d left, %v; want 333 and 167", n, left, err)
	}
	if c.asked != transactions {
		t.Errorf("asked %d times, want once for each of %d", c.asked, transactions)
	}
}

// TestMarkUnderNoIDStopsTheCleaning: whoever shares the table may have transactions whose
// IDs the coordinator takes for none.
func TestMarkUnderNoIDStopsTheCleaning(t *testing.T) {
	t.Parallel()
	e := open(t, "sqlite", sqliteDSN(t.TempDir()+"/x.db"), barrier.SQLite, barrier.Native)
	co, err := coord.New(memstore.New(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a/b", "...", strings.Repeat("x", 200), "known to nobody"} {
		e.do(t, call(id, "action"), e.account(t).add(0, ""), barrier.Ran, "")
	}
	e.age(t, "", 25*time.Hour)
	if n, err := e.b.Clean(t.Context(), co, &barrier.CleanOptions{Unknown: -1}); n != 0 || err != nil {
		t.Errorf("told to keep what is unknown: %d removed, %v", n, err)
	}
	if n, err := e.b.Clean(t.Context(), co, nil); n != 4 || err != nil {
		t.Errorf("%d removed, %v; want 4", n, err)
	}
}

// TestCleanAfterAnAgeWithoutItsUnit: 24 for 24 h would let late copies of calls take effect again.
func TestCleanAfterAnAgeWithoutItsUnit(t *testing.T) {
	t.Parallel()
	e := open(t, "sqlite", sqliteDSN(t.TempDir()+"/x.db"), barrier.SQLite, barrier.Native)
	c := &coordinator{known: map[string]*txn.Transaction{"a": {Status: txn.Committed}}}
	for _, transaction := range []string{"a", "b"} {
		e.do(t, call(transaction, "action"), e.account(t).add(1, ""), barrier.Ran, "")
	}
	e.age(t, "", time.Second)
	for _, test := range []struct {
		field string
		opts  barrier.CleanOptions
	}{
		{"age", barrier.CleanOptions{Age: 24}},
		{"age", barrier.CleanOptions{Age: -24 * time.Hour}},
		{"unknown", barrier.CleanOptions{Age: -1, Unknown: 24}},
		{"unknown", barrier.CleanOptions{Unknown: -2}},
	} {
		n, err := e.b.Clean(t.Context(), c, &test.opts)
		if wrong, ok := errors.AsType[*input.Error](err); !ok || wrong.Field != test.field || n != 0 {
			t.Errorf("%+v: %d removed, %v", test.opts, n, err)
		}
	}
	least := &barrier.CleanOptions{Age: time.Millisecond, Unknown: time.Millisecond}
	if n, err := e.b.Clean(t.Context(), c, least); n != 2 || err != nil {
		t.Errorf("%d removed, %v; want 2", n, err)
	}
}
