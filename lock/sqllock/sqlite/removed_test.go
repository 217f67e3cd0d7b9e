package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/sqlite"
)

// TestRefillOutlastsItsContext: the tables are emptied, and the file is locked by another program. Who asks waits no
// longer than its context.
func TestRefillOutlastsItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	b := openBackend(t, path, &sqlite.Options{BusyTimeout: 5 * time.Second})
	if _, err := b.Acquire(t.Context(), request("a", "o:1")); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"bedrock_locks", "bedrock_locks_holders", "bedrock_locks_about"} {
		execute(t, path, "DELETE FROM "+table)
	}
	unlock := execute(t, path, "BEGIN IMMEDIATE")
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := b.(driver.Inspector).Inspect(ctx, "a") //nolint:forcetypeassert // it is checked by the compiler
	if took := time.Since(began); took > 2*time.Second || err == nil {
		t.Errorf("inspected after %s: %v", took, err)
	}
}

// TestDroppedTablesStayAway: what was dropped is made anew, be it all tables or one.
func TestDroppedTablesStayAway(t *testing.T) {
	tables := []string{"bedrock_locks", "bedrock_locks_holders", "bedrock_locks_about"}
	for name, dropped := range map[string][]string{"all": tables, "one": tables[:1]} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "locks.db")
			b := openBackend(t, path, nil)
			if _, err := b.Acquire(t.Context(), request("a", "o:1")); err != nil {
				t.Fatal(err)
			}
			for _, table := range dropped {
				execute(t, path, "DROP TABLE "+table)
			}
			if _, err := b.Acquire(t.Context(), request("b", "o:2")); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestReleaseRingsNoBell: a release is told in the file of releases. Who waits would look after a second besides.
func TestReleaseRingsNoBell(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	a, b := openBackend(t, path, nil), openBackend(t, path, nil)
	g, err := a.Acquire(t.Context(), request("a", "o:1"))
	if err != nil {
		t.Fatal(err)
	}
	waiter := b.(driver.Waiter) //nolint:forcetypeassert // it is checked by the compiler
	watch, err := waiter.Watch(t.Context(), "a", driver.Mutex)
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	told := func() int64 {
		ring, err := os.Stat(path + "-wake")
		if err != nil {
			t.Fatal(err)
		}
		return ring.Size()
	}
	before := told()
	if _, err := a.Release(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	if after := told(); after <= before {
		t.Errorf("%d bytes of releases, and %d after one", before, after)
	}
}

// TestRemovedBellIsListenedTo: who waits is told of releases, although somebody has removed the file of releases.
func TestRemovedBellIsListenedTo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	a, b := openBackend(t, path, nil), openBackend(t, path, nil)
	w, err := a.(driver.Waiter).Watch(t.Context(), "a", driver.Mutex) //nolint:forcetypeassert // it is one
	if err != nil {
		t.Skip(err)
	}
	defer w.Close()
	if err := os.Remove(path + "-wake"); err != nil {
		t.Fatal(err)
	}
	limit, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for w.Count() == 0 {
		g, err := b.Acquire(t.Context(), request("a", "o:1"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Release(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		if !sleep.For(limit, 10*time.Millisecond) {
			t.Fatal("nothing is told of releases")
		}
	}
}

// signsOf are the signs of those who have a file open.
func signsOf(t *testing.T, folder string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestRemovedSignStaysDown: who goes on in the next file of that name can be seen to live, and to have died.
func TestRemovedSignStaysDown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	b := openBackend(t, path, nil)
	if len(signsOf(t, path+"-clients")) != 1 {
		t.Skip("there are no signs here")
	}
	all, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = b.Acquire(t.Context(), request("a", "o:1")) // is told that the file was removed
	if _, err := b.Acquire(t.Context(), request("a", "o:1")); err != nil {
		t.Fatal(err)
	}
	if n := len(signsOf(t, path+"-clients")); n != 1 {
		t.Errorf("it has %d signs", n)
	}
}

// TestSignsOfTwoFilesMeet: who takes down signs of the dead frees their locks, and must not find those of others.
func TestSignsOfTwoFilesMeet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	openBackend(t, path, &sqlite.Options{Table: "jobs"})
	openBackend(t, path+"-jobs", nil)
	if n := len(signsOf(t, path+"-jobs-clients")); n > 1 {
		t.Errorf("%d signs in one folder", n)
	}
}
