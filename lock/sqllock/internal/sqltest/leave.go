package sqltest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
)

const (
	// leavesAt has a test program be another one, which asks for a lock in the database there, and ends when it has no
	// answer in time. leavesTable is the table of the profile.
	leavesAt    = "BEDROCK_LEAVES_AT"
	leavesTable = "BEDROCK_LEAVES_TABLE"
	// deadTime is the longest it may take until a server has nothing of a program that has ended. After 4 s it gives a
	// session's statement up by itself.
	deadTime = 2 * time.Second
)

// LeaveIfAsked is that program: it does not return where this is one. The profiles are those of [Accounts].
func LeaveIfAsked(kind string, profiles map[string]func(*sql.DB) (driver.Backend, error)) {
	dsn := os.Getenv(leavesAt)
	if dsn == "" {
		return
	}
	if err := askAndLeave(kind, dsn, profiles[os.Getenv(leavesTable)]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// askAndLeave asks for a lock whose row somebody has.
func askAndLeave(kind, dsn string, open func(*sql.DB) (driver.Backend, error)) error {
	db, err := sql.Open(kind, dsn)
	if err != nil {
		return err
	}
	b, err := open(db)
	if err != nil {
		return err
	}
	if _, err := b.Acquire(context.Background(), Request(strconv.Itoa(os.Getpid()), "dead:1")); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), cutTime)
	defer cancel()
	if _, err := b.Acquire(ctx, Request("a", "dead:1")); !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("while somebody has the row: %w", err)
	}
	return b.Close()
}

// Leave is the test of a process that ends while it waits for somebody's row.
type Leave struct {
	Site *Site
	Open map[string]func(*sql.DB) (driver.Backend, error)
	// Busy counts the other connections to the database that have a statement carried out, Held the locks of sessions.
	Busy, Held string
}

// TheDeadTakeLocks has processes leave, and then the row be free: none of them has the lock.
func (l *Leave) TheDeadTakeLocks(t *testing.T) {
	t.Helper()
	for table, open := range l.Open {
		t.Run(table, func(t *testing.T) {
			dsn := l.Site.Fresh(t)
			b := l.Site.Backend(t, dsn, open)
			defer b.Close()
			for range 5 {
				l.leaveOne(t, b, dsn, table)
			}
		})
	}
}

func (l *Leave) leaveOne(t *testing.T, b driver.Backend, dsn, table string) {
	t.Helper()
	g, err := b.Acquire(t.Context(), Request("a", "o:1"))
	if err == nil {
		_, err = b.Release(t.Context(), g)
	}
	if err != nil {
		t.Fatalf("somebody left it behind: %v", err)
	}
	db := l.Site.Connect(t, dsn)
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // of no effect after the commit

	haveRow := "SELECT name FROM " + table + " WHERE name = 'a' FOR UPDATE" //nolint:gosec // a table of ours
	if _, err := tx.ExecContext(t.Context(), haveRow); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // this program
	cmd.Env = append(os.Environ(), leavesAt+"="+dsn, leavesTable+"="+table)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	soon, cancel := context.WithTimeout(t.Context(), deadTime)
	defer cancel()
	awaitNone(soon, t, db, "locks of who is dead", l.Held)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	awaitNone(t.Context(), t, db, "statements that nobody waits for", l.Busy)
}

// awaitNone waits until the server has none of what a query counts.
func awaitNone(ctx context.Context, t *testing.T, db *sql.DB, what, query string) {
	t.Helper()
	for n := 1; n > 0; <-time.After(time.Millisecond) {
		if err := db.QueryRowContext(ctx, query).Scan(&n); err != nil {
			t.Fatalf("%d %s: %v", n, what, err)
		}
	}
}
