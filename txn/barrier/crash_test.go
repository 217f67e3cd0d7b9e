package barrier_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bedrock-go/bedrock/txn/barrier"
)

// testCrash: a database that dies before the commit has neither work nor mark; one
// that dies after it has both.
func testCrash(t *testing.T, e *engine) {
	if e.crash == nil {
		t.Skip("no process of its own; see TestSQLiteCrash")
	}
	a := e.account(t)
	c := call(id(t, "x"), "action")
	_, v, err := e.b.Do(t.Context(), c, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		result, err := a.add(1, "never")(ctx, tx)
		e.crash(t)
		return result, err
	})
	if v != barrier.Undecided || err == nil {
		t.Fatalf("killed before the commit: %v, %v", v, err)
	}
	if _, v := e.settle(t, call(id(t, "y"), "compensate"), nil); v != barrier.EmptyCompensation {
		t.Errorf("after the crash: %v", v)
	}
	a.want(t, 0)
	if _, v := e.settle(t, c, a.add(1, "done")); v != barrier.Ran {
		t.Errorf("again after the crash: %v", v)
	}
	e.crash(t)
	result, v := e.settle(t, c, a.add(1, "twice"))
	if v != barrier.Duplicate || e.native() && result != "done" {
		t.Errorf("killed after the commit: %v, result %q", v, result)
	}
	a.want(t, 1)
}

// crashVariable tells a child process to die at work, and in which database.
const crashVariable = "BARRIER_CRASH"

// dieAtWork ends the process in the middle of a local transaction.
func dieAtWork(path string) {
	db, err := sql.Open("sqlite", sqliteDSN(path))
	if err != nil {
		panic(err)
	}
	b, err := barrier.New(db, barrier.SQLite, nil)
	if err != nil {
		panic(err)
	}
	crash := func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		if _, err := tx.ExecContext(ctx, "UPDATE account SET balance = balance + 1"); err != nil {
			return nil, err
		}
		os.Exit(crashed)
		return nil, nil
	}
	_, v, err := b.Do(context.Background(), call("crash", "action"), crash)
	panic(errors.Join(err, errors.New(v.String())))
}

const crashed = 42

func TestSQLiteCrash(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "business.db")
	e := open(t, "sqlite", sqliteDSN(path), barrier.SQLite, barrier.Native)
	a := e.account(t)
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), crashVariable+"="+path)
	out, _ := child.CombinedOutput()
	if code := child.ProcessState.ExitCode(); code != crashed {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	a.want(t, 0)
	e.do(t, call("crash", "action"), a.add(1, "done"), barrier.Ran, "done")
	a.want(t, 1)
	// The file, opened anew, knows what was committed.
	again := reopen(t, path)
	result, v, err := again.Do(t.Context(), call("crash", "action"), nil)
	if string(result) != "done" || v != barrier.Duplicate || err != nil {
		t.Errorf("opened anew: %q, %v, %v", result, v, err)
	}
}

// reopen is a second barrier on a database that has everything.
func reopen(t *testing.T, path string) *barrier.Barrier {
	t.Helper()
	db, err := sql.Open("sqlite", sqliteDSN(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	b, err := barrier.New(db, barrier.SQLite, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
