package sqlite_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/sqlite"
)

// smallDisk makes a disk that is easily filled.
func smallDisk(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if err := unix.Mount("none", folder, "tmpfs", 0, "size=512k"); err != nil {
		t.Skip("a disk of our own needs root: ", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(folder, 0); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// fillUp leaves no room on a disk until that is made free.
func fillUp(t *testing.T, folder string) (free func()) {
	t.Helper()
	f, err := os.Create(filepath.Join(folder, "all the room"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.CopyN(f, zeros{}, 1<<20); !errors.Is(err, unix.ENOSPC) {
		t.Fatal("the disk is not full: ", err)
	}
	return func() {
		if err := os.Remove(f.Name()); err != nil {
			t.Error(err)
		}
	}
}

// zeros has no end.
type zeros struct{}

// Read implements io.Reader.
func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// wantFull wants an error that says that nothing happened, since the disk is full.
func wantFull(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, driver.ErrUnavailable) || errors.Is(err, driver.ErrHeld) || lock.MaybeApplied(err) ||
		!strings.Contains(err.Error(), "full") {
		t.Errorf("%s: %v", what, err)
	}
}

// TestFullDiskHidesBehindTheDead: what a dead process has cannot be freed, so who wants it waits for room, and is not
// told of that process.
func TestFullDiskHidesBehindTheDead(t *testing.T) {
	folder := smallDisk(t)
	path := filepath.Join(folder, "locks.db")
	c, b := open(t, path, nil), openBackend(t, path, nil)
	if _, err := b.Acquire(t.Context(), request("of the living", "o:1")); err != nil {
		t.Fatal(err)
	}
	holder, lines := again(t, "hold", path)
	if !lines.Scan() || lines.Text() != "held <nil> <nil> <nil>" {
		t.Fatal(lines.Text(), lines.Err())
	}
	waits := make(chan error)
	go func() {
		_, err := c.Mutex("a", &lock.MutexOptions{Wait: 3 * time.Second}).Lock(t.Context())
		waits <- err
	}()
	limit, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for _, err := os.Stat(path + "-wake"); err != nil; _, err = os.Stat(path + "-wake") { // then it listens
		if !sleep.For(limit, time.Millisecond) {
			t.Fatal("nobody waits")
		}
	}
	free := fillUp(t, folder)
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait() // it was killed
	wantFull(t, "who waits", <-waits)
	_, err := c.Mutex("b", nil).TryLock(t.Context())
	wantFull(t, "who tries", err)
	_, err = c.ForceRelease(t.Context(), "a")
	wantFull(t, "who takes it away", err)
	if _, err := b.Acquire(t.Context(), request("of the living", "o:2")); !errors.Is(err, driver.ErrHeld) {
		t.Errorf("a holder that lives: %v", err)
	}
	checker := b.(driver.Checker) //nolint:forcetypeassert // it is checked by the compiler
	found, err := checker.Check(t.Context())
	if err != nil || found[0].Level != driver.Danger || !strings.Contains(found[0].What, "no room") {
		t.Errorf("checked: %+v, %v", found, err)
	}
	free()
	if _, err := c.Mutex("a", &lock.MutexOptions{Wait: 5 * time.Second}).Lock(t.Context()); err != nil {
		t.Errorf("there is room again: %v", err)
	}
	if found, err = checker.Check(t.Context()); err != nil || found[0].Level != driver.OK {
		t.Errorf("checked when there is room again: %+v, %v", found, err)
	}
}

// TestFullDiskIsNotNamed: SQLite only says that it could not begin.
func TestFullDiskIsNotNamed(t *testing.T) {
	folder := smallDisk(t)
	path := filepath.Join(folder, "locks.db")
	if err := openBackend(t, path, nil).Close(); err != nil {
		t.Fatal(err)
	}
	fillUp(t, folder)
	b, err := sqlite.OpenBackend(path, nil)
	if err == nil {
		_ = b.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "the disk of "+folder+" is full") {
		t.Error(err)
	}
}
