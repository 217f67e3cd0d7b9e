package barrier_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bedrock-go/bedrock/txn"
	"github.com/bedrock-go/bedrock/txn/barrier"
)

func pairs(e *engine) map[string]string {
	if e.native() {
		return map[string]string{"action": "compensate", "try": "cancel", "prepare": "rollback", "do": "undo"}
	}
	return map[string]string{"action": "compensate", "try": "cancel"}
}

func testVerdicts(t *testing.T, e *engine) {
	for forward, back := range pairs(e) {
		a := e.account(t)
		tx := id(t, forward)
		e.do(t, call(tx, forward), a.add(10, "first"), barrier.Ran, "first")
		e.do(t, call(tx, forward), a.add(10, "second"), barrier.Duplicate, "first")
		a.want(t, 10)
		e.do(t, call(tx, back), a.add(-10, "undone"), barrier.Ran, "undone")
		e.do(t, call(tx, back), a.add(-10, "again"), barrier.Duplicate, "undone")
		for attempt := 1; attempt < 4; attempt++ {
			late := call(tx, forward)
			late.Attempt = attempt
			e.do(t, late, a.add(10, "third"), barrier.Hanging, "")
		}
		a.want(t, 0)

		tx = id(t, forward+":empty")
		e.do(t, call(tx, back), a.add(-10, ""), barrier.EmptyCompensation, "")
		again := barrier.Duplicate
		if e.native() {
			again = barrier.EmptyCompensation
		}
		e.do(t, call(tx, back), a.add(-10, ""), again, "")
		e.do(t, call(tx, back), a.add(-10, ""), barrier.Duplicate, "")
		for attempt := 1; attempt < 4; attempt++ {
			late := call(tx, forward)
			late.Attempt = attempt
			e.do(t, late, a.add(10, ""), barrier.Hanging, "")
		}
		a.want(t, 0)
	}
	for _, op := range []string{"confirm", "deliver", "hook", "commit"} {
		a := e.account(t)
		e.do(t, call(id(t, op), op), a.add(1, op), barrier.Ran, op)
		e.do(t, call(id(t, op), op), a.add(1, op), barrier.Duplicate, op)
		a.want(t, 1)
	}
	_, _, err := e.b.Do(t.Context(), call(id(t, "late"), "compensate"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.b.Do(t.Context(), call(id(t, "late"), "action"), nil); !errors.Is(err, barrier.ErrHanging) {
		t.Errorf("error of a late call: %v", err)
	}
}

// testRefusals: a coordinator that was refused never takes the branch back, so a
// late duplicate must not do what was refused.
func testRefusals(t *testing.T, e *engine) {
	if !e.native() {
		testRefusalsForgotten(t, e)
		return
	}
	a := e.account(t)
	no := then(a.add(5, ""), txn.Abort(errors.New("not enough")))
	first := call(id(t, "forward"), "action")
	e.do(t, first, no, barrier.Refused, "")
	a.want(t, 0)
	_, _, err := e.b.Do(t.Context(), first, a.add(5, "ok"))
	if !txn.Aborted(err) || err.Error() != "not enough" {
		t.Errorf("duplicate of a refused call: %v", err)
	}
	second := first
	second.Attempt = 2
	e.do(t, second, no, barrier.Refused, "")
	e.do(t, second, a.add(5, "ok"), barrier.Refused, "")
	e.do(t, first, a.add(5, "ok"), barrier.Refused, "")
	a.want(t, 0)
	second.Attempt, second.Epoch = 1, 2 // another coordinator has taken over
	e.do(t, second, a.add(5, "ok"), barrier.Ran, "ok")
	e.do(t, first, no, barrier.Duplicate, "ok")
	a.want(t, 5)

	tx := id(t, "empty")
	e.do(t, call(tx, "action"), no, barrier.Refused, "")
	e.do(t, call(tx, "compensate"), a.add(-5, ""), barrier.EmptyCompensation, "")
	again := call(tx, "action")
	again.Attempt = 9
	e.do(t, again, a.add(5, ""), barrier.Hanging, "")
	a.want(t, 5)

	tx = id(t, "back")
	e.do(t, call(tx, "action"), a.add(5, ""), barrier.Ran, "")
	e.do(t, call(tx, "compensate"), then(a.add(-5, ""), txn.Abort(errors.New("shipped"))), barrier.Refused, "")
	e.do(t, call(tx, "action"), a.add(5, ""), barrier.Duplicate, "") // it is not taken back
	a.want(t, 10)
	again = call(tx, "compensate")
	again.Attempt = 2
	e.do(t, again, a.add(-5, "undone"), barrier.Ran, "undone")
	e.do(t, call(tx, "action"), a.add(5, ""), barrier.Hanging, "")
	a.want(t, 5)
}

// testRefusalsForgotten: DTM's table has no room for them.
func testRefusalsForgotten(t *testing.T, e *engine) {
	t.Helper()
	a := e.account(t)
	c := call(id(t, "forward"), "action")
	e.do(t, c, then(a.add(5, ""), txn.Abort(errors.New("not enough"))), barrier.Refused, "")
	a.want(t, 0)
	e.do(t, c, a.add(5, "ok"), barrier.Ran, "ok")
	a.want(t, 5)
}

// testErrors: what is not known to be done is not done, and may be tried again.
func testErrors(t *testing.T, e *engine) {
	a := e.account(t)
	c := call(id(t, "x"), "action")
	boom := errors.New("boom")
	for _, want := range []error{boom, txn.Pending(time.Second)} {
		_, v, err := e.b.Do(t.Context(), c, then(a.add(1, ""), want))
		if v != barrier.Undecided || !errors.Is(err, want) {
			t.Errorf("got %v, %v; want %v", v, err, want)
		}
	}
	func() {
		defer func() { _ = recover() }()
		_, _, _ = e.b.Do(t.Context(), c, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
			_, _ = a.add(1, "")(ctx, tx)
			panic("boom")
		})
	}()
	ctx, cancel := context.WithCancel(t.Context())
	_, v, err := e.b.Do(ctx, c, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		_, _ = a.add(1, "")(ctx, tx)
		cancel()
		return []byte("never"), nil
	})
	if v != barrier.Undecided || err == nil || txn.Aborted(err) {
		t.Errorf("cancelled: %v, %v", v, err)
	}
	a.want(t, 0)
	e.do(t, c, a.add(1, "done"), barrier.Ran, "done")
	a.want(t, 1)
}

// testNames: names are told apart whatever is in them, and what cannot be told
// apart is refused.
func testNames(t *testing.T, e *engine) {
	a := e.account(t)
	longest := 255
	names := []string{
		"o'brien", `"quoted"`, `back\slash`, "x; DROP TABLE account; --", "per%cent_", "\t\r\n", "Ünïcödé", "日本",
		"🙂", "e\u0301", "\u00e9",
	}
	if e.native() {
		names = append(names, "case", "CASE", "pad", "pad ", " pad", "ss", "ß")
	} else {
		longest = 128
	}
	names = append(names, strings.Repeat("x", longest), strings.Repeat("x", longest-1)+"y")
	for _, name := range names {
		e.do(t, txn.Call{Transaction: name, Branch: name, Op: "action"}, a.add(1, name), barrier.Ran, name)
	}
	for _, name := range names {
		e.do(t, txn.Call{Transaction: name, Branch: name, Op: "action"}, a.add(1, ""), barrier.Duplicate, name)
	}
	a.want(t, len(names))
	bad := []txn.Call{
		{Op: "action"},
		{Transaction: "t"},
		{Transaction: strings.Repeat("x", longest+1), Op: "action"},
		{Transaction: strings.Repeat("z", longest+1), Op: "action"}, // would be cut short, and pass
		{Transaction: "t", Branch: strings.Repeat("x", longest+1), Op: "action"},
		{Transaction: "t", Op: strings.Repeat("x", 65)},
		{Transaction: "t\x00", Op: "action"},
		{Transaction: "t", Branch: "\xff", Op: "action"},
		{Transaction: "t", Op: "refused"},
	}
	quiet := func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		_, err := a.add(1, "")(ctx, tx)
		return nil, err // a result would be missed where it cannot be kept
	}
	for _, c := range bad {
		if _, v, err := e.b.Do(t.Context(), c, quiet); v != barrier.Undecided || err == nil || txn.Aborted(err) {
			t.Errorf("%.60q, %.60q, %.60q: %v, %v", c.Transaction, c.Branch, c.Op, v, err)
		}
	}
	a.want(t, len(names))
	if !e.native() && e.dialect == barrier.MySQL {
		testLookalikes(t, e, a)
	}
}

// testLookalikes: DTM's columns on MySQL ignore case. Better an error than the
// work of one transaction skipped because of another.
func testLookalikes(t *testing.T, e *engine, a account) {
	t.Helper()
	e.do(t, call("alike", "action"), a.add(0, ""), barrier.Ran, "")
	for _, op := range []string{"action", "compensate"} {
		if _, v, err := e.b.Do(t.Context(), call("ALIKE", op), a.add(1, "")); v != barrier.Undecided || err == nil {
			t.Errorf("%s of another transaction: %v, %v", op, v, err)
		}
	}
}

func testResults(t *testing.T, e *engine) {
	a := e.account(t)
	for name, result := range map[string]string{
		"empty": "", "binary": "\x00\xff'\"\\\r\n", "json": `{"a":1}`,
		"long": strings.Repeat("0123456789abcdef", 1<<19),
	} {
		e.do(t, call(id(t, name), "action"), a.add(0, result), barrier.Ran, result)
		e.do(t, call(id(t, name), "action"), a.add(0, "other"), barrier.Duplicate, result)
	}
	nothing := func(context.Context, *sql.Tx) ([]byte, error) { return nil, nil }
	e.do(t, call(id(t, "nil"), "action"), nothing, barrier.Ran, "")
	got, _, err := e.b.Do(t.Context(), call(id(t, "nil"), "action"), nothing)
	if got != nil || err != nil {
		t.Errorf("duplicate of a call without result: %v, %v", got, err)
	}
}

// testOwnTransaction: the barrier within somebody else's transaction, or on a
// connection with a transaction begun by hand.
func testOwnTransaction(t *testing.T, e *engine) {
	a := e.account(t)
	commits := func(c txn.Call, commit bool, want barrier.Verdict) {
		t.Helper()
		tx, err := e.db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		work := func(ctx context.Context) ([]byte, error) { return a.add(1, "r")(ctx, tx) }
		if _, v, err := e.b.In(t.Context(), tx, c, work); v != want || (err != nil) != (want == barrier.Hanging) {
			t.Errorf("%s: %v, %v; want %v", c.Op, v, err, want)
		}
		if commit {
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := call(id(t, "x"), "action")
	commits(c, false, barrier.Ran)
	a.want(t, 0)
	commits(c, true, barrier.Ran)
	commits(c, true, barrier.Duplicate)
	a.want(t, 1)
	commits(call(id(t, "y"), "compensate"), true, barrier.EmptyCompensation)
	commits(call(id(t, "y"), "action"), false, barrier.Hanging)

	conn, err := e.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, end := range []string{"ROLLBACK", "COMMIT"} {
		_, err := conn.ExecContext(t.Context(), "BEGIN")
		if err != nil {
			t.Fatal(err)
		}
		_, v, err := e.b.In(
			t.Context(), conn, call(id(t, "z"), "action"), func(context.Context) ([]byte, error) { return nil, nil },
		)
		if v != barrier.Ran || err != nil {
			t.Errorf("on a connection, before %s: %v, %v", end, v, err)
		}
		if _, err := conn.ExecContext(t.Context(), end); err != nil {
			t.Fatal(err)
		}
	}
}

// testReadBefore: a transaction that has read before it came to the barrier sees
// what has been marked since, or fails.
func testReadBefore(t *testing.T, e *engine) {
	for name, level := range map[string]sql.IsolationLevel{
		"default": sql.LevelDefault, "serializable": sql.LevelSerializable,
	} {
		if e.dialect == barrier.MySQL && level == sql.LevelSerializable {
			continue // it would lock what it reads, and the other call would wait for it
		}
		t.Run(name, func(t *testing.T) { testReadBeforeAt(t, e, level) })
	}
}

func testReadBeforeAt(t *testing.T, e *engine, level sql.IsolationLevel) {
	t.Helper()
	a := e.account(t)
	c := call(id(t, "x"), "action")
	tx, err := e.db.BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var balance int
	if err := tx.QueryRowContext(t.Context(), "SELECT SUM(balance) FROM account").Scan(&balance); err != nil {
		t.Fatal(err)
	}
	e.do(t, c, a.add(1, "first"), barrier.Ran, "first")
	result, v, err := e.b.In(
		t.Context(), tx, c, func(ctx context.Context) ([]byte, error) { return a.add(1, "second")(ctx, tx) },
	)
	switch {
	case e.dialect == barrier.SQLite || level == sql.LevelSerializable: // it is of yesterday and may not write
		if v != barrier.Undecided || err == nil || txn.Aborted(err) {
			t.Errorf("%v, %v; want an error", v, err)
		}
	case v != barrier.Duplicate || err != nil || e.native() && string(result) != "first":
		t.Errorf("%v, %q, %v; want duplicate, first", v, result, err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	a.want(t, 1)
}

// testFunctions: participants as a coordinator knows them.
func testFunctions(t *testing.T, e *engine) {
	type in struct{ Amount int }
	a := e.account(t)
	var skipped []barrier.Verdict
	b, err := barrier.New(e.db, e.dialect, &barrier.Options{
		Layout:      e.layout,
		SkippedFunc: func(_ context.Context, _ txn.Call, v barrier.Verdict) { skipped = append(skipped, v) },
	})
	if err != nil {
		t.Fatal(err)
	}
	f := barrier.Handle(b, func(ctx context.Context, tx *sql.Tx, in in) (map[string]int, error) {
		if c, ok := txn.CallFrom(ctx); !ok || c.Branch != "pay" {
			t.Errorf("call in context: %v, %v", c, ok)
		}
		_, err := a.add(in.Amount, "")(ctx, tx)
		return map[string]int{"amount": in.Amount}, err
	})
	c := call(id(t, "x"), "action")
	c.Payload = []byte(`{"Amount": 7}`)
	for range 2 {
		result, err := f(t.Context(), c)
		if err != nil || string(result) != `{"amount":7}` && (e.native() || result != nil) {
			t.Errorf("result %s, %v", result, err)
		}
	}
	c.Transaction, c.Payload = id(t, "y"), []byte(`{`)
	if _, err := f(t.Context(), c); err == nil || txn.Aborted(err) {
		t.Errorf("broken payload: %v", err)
	}
	a.want(t, 7)
	no := b.Func(func(context.Context, *sql.Tx, txn.Call) ([]byte, error) { return nil, txn.Abort(errors.New("no")) })
	c.Transaction = id(t, "z")
	want := []barrier.Verdict{barrier.Duplicate}
	for range 2 {
		if _, err := no(t.Context(), c); !txn.Aborted(err) {
			t.Errorf("refusal: %v", err)
		}
	}
	if e.native() {
		want = append(want, barrier.Refused) // the first one was run
	}
	if diff := cmp.Diff(want, skipped); diff != "" {
		t.Errorf("told of (-want +got):\n%s", diff)
	}
}

// TestWhoIsToldOfWhatWasSkippedPanics: a repeated call gets the first result all the same, within
// a transaction of the barrier's and within the caller's.
func TestWhoIsToldOfWhatWasSkippedPanics(t *testing.T) {
	var told bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&told, nil)))
	defer slog.SetDefault(before)
	e := open(t, "sqlite", sqliteDSN(t.TempDir()+"/x.db"), barrier.SQLite, barrier.Native)
	var err error
	e.b, err = barrier.New(e.db, barrier.SQLite, &barrier.Options{
		SkippedFunc: func(context.Context, txn.Call, barrier.Verdict) { panic("out of paper") },
	})
	if err != nil {
		t.Fatal(err)
	}
	a := e.account(t)
	e.do(t, call("a", "action"), a.add(1, "r"), barrier.Ran, "r")
	e.do(t, call("a", "action"), a.add(1, "r"), barrier.Duplicate, "r")
	tx, err := e.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	result, v, err := e.b.In(t.Context(), tx, call("a", "action"), nil)
	if v != barrier.Duplicate || string(result) != "r" || err != nil {
		t.Errorf("%q, %v, %v", result, v, err)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	a.want(t, 1)
	if !strings.Contains(told.String(), `SkippedFunc panicked" transaction=a panic="out of paper" stack=`) {
		t.Errorf("told: %q", &told)
	}
}
