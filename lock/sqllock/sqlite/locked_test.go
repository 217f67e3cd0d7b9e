package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/sqlite"
)

// execute has another program, as it were, do something to the file.
func execute(t *testing.T, path string, statements ...string) (undo func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	undo = func() { _ = db.Close() }
	t.Cleanup(undo)
	return undo
}

// TestLockedFileHoldsCallersUp: calls end with their contexts, and what was not done is called so.
func TestLockedFileHoldsCallersUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	b := openBackend(t, path, &sqlite.Options{BusyTimeout: 300 * time.Millisecond})
	unlock := execute(t, path, "BEGIN IMMEDIATE", "DELETE FROM bedrock_locks WHERE name = 'none'")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := b.Acquire(ctx, request("a", "o:1"))
	if took := time.Since(began); took > 200*time.Millisecond || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it took %v: %v", took, err)
	}
	began = time.Now()
	_, err = b.Acquire(t.Context(), request("a", "o:2"))
	if took := time.Since(began); took > 2*time.Second || !errors.Is(err, driver.ErrUnavailable) ||
		!strings.Contains(err.Error(), "locked by another program") {
		t.Errorf("it took %v: %v", took, err)
	}
	unlock()
	if _, err := b.Acquire(t.Context(), request("b", "o:3")); err != nil {
		t.Error(err)
	}
}

// TestLockedFileHidesTheHolder: who has a lock is known, whoever writes.
func TestLockedFileHidesTheHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	b := openBackend(t, path, nil)
	if _, err := b.Acquire(t.Context(), request("a", "o:1")); err != nil {
		t.Fatal(err)
	}
	execute(t, path, "BEGIN IMMEDIATE")
	_, err := b.Acquire(t.Context(), request("a", "o:2"))
	if held, ok := errors.AsType[*driver.HeldError](err); !ok || held.Owner != "o:1" {
		t.Error(err)
	}
}

// TestFileOfAnotherBootIsBelieved: the leases of an earlier boot are over, and its tokens are not.
func TestFileOfAnotherBootIsBelieved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	old := openBackend(t, path, nil)
	exclusive, err := old.Acquire(t.Context(), request("a", "o:1"))
	if err != nil {
		t.Fatal(err)
	}
	reads := request("b", "o:1")
	reads.Mode = driver.Shared
	shared, err := old.Acquire(t.Context(), reads)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, path, "UPDATE bedrock_locks_about SET boot = 'earlier'")
	if _, err := old.Acquire(t.Context(), request("c", "o:1")); !errors.Is(err, driver.ErrRefused) ||
		!strings.Contains(err.Error(), "another machine") {
		t.Errorf("who goes by the clock of another boot: %v", err)
	}
	if newcomer, err := sqlite.OpenBackend(path, nil); err == nil {
		_ = newcomer.Close()
		t.Error("leases of a process that lives are ended")
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	b := openBackend(t, path, nil)
	for _, was := range []driver.Grant{exclusive, shared} {
		g, err := b.Acquire(t.Context(), request(was.Name, "o:2"))
		if err != nil || g.Token <= was.Token {
			t.Errorf("token %d after %d: %v", g.Token, was.Token, err)
		}
	}
}

// TestRemovedFileIsUsed: who goes on with a file that is gone would share its locks with nobody.
func TestRemovedFileIsUsed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	b := openBackend(t, path, nil)
	g, err := b.Acquire(t.Context(), request("a", "o:1"))
	if err != nil {
		t.Fatal(err)
	}
	removeFile(t, path)
	err = b.Renew(t.Context(), []driver.Grant{g})[0]
	if errors.Is(err, driver.ErrUnavailable) { // else it was noticed before
		err = b.Renew(t.Context(), []driver.Grant{g})[0]
	}
	if !errors.Is(err, driver.ErrLost) {
		t.Errorf("a renewal in the next file: %v", err)
	}
	next, err := openBackend(t, path, nil).Acquire(t.Context(), request("a", "o:2"))
	if err != nil || next.Token <= g.Token {
		t.Errorf("token %d after %d: %v", next.Token, g.Token, err)
	}
	if _, err := b.Acquire(t.Context(), request("a", "o:3")); !errors.Is(err, driver.ErrHeld) {
		t.Errorf("who had the old file open: %v", err)
	}
}

// TestCheckOverlooksThatTheFileIsLocked: who looks when another program has the file for itself is told so, and when it
// only writes for a moment, not.
func TestCheckOverlooksThatTheFileIsLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	b := openBackend(t, path, &sqlite.Options{BusyTimeout: 300 * time.Millisecond}).(driver.Checker)
	unlock := execute(t, path, "BEGIN EXCLUSIVE")
	found, err := b.Check(t.Context())
	if err != nil || found[0].Level != driver.Danger || !strings.Contains(found[0].What, "by another program") {
		t.Errorf("got %+v, %v", found, err)
	}
	time.AfterFunc(100*time.Millisecond, unlock)
	if found, err := b.Check(t.Context()); err != nil || found[0].Level == driver.Danger {
		t.Errorf("got %+v, %v", found, err)
	}
}

// TestTextIsTakenForAFile: what is no file of SQLite is the wrong path, and no store that refuses.
func TestTextIsTakenForAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.txt")
	text := strings.Repeat("These are no locks. ", 10) // longer than the head of a file of SQLite
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := sqlite.OpenBackend(path, nil)
	if !errors.Is(err, input.ErrInvalid) || !strings.Contains(err.Error(), "is no file of SQLite") {
		t.Errorf("got %v", err)
	}
}
