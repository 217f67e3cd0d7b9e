//go:build unix

package sqlite_test

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// alone is set for a test that is run by a process of its own.
const alone = "BEDROCK_ALONE"

// runAlone runs a test by a process of its own, for what is limited is the process.
func runAlone(t *testing.T) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), alone+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

// TestFullDiskKeepsConnectionsOpen: every write that fails for want of space gives its
// connection up, and with it the files it has open, or the program soon has none left
// to open. When there is space again, writes are made again.
func TestFullDiskKeepsConnectionsOpen(t *testing.T) {
	if os.Getenv(alone) == "" {
		runAlone(t)
		return
	}
	path := filepath.Join(t.TempDir(), "bedrock.db")
	store := open(t, path, nil)
	if err := store.Create(t.Context(), record("before")); err != nil {
		t.Fatal(err)
	}
	free := fillDisk(t, path+"-wal")
	before := openFiles(t)
	for n := range 100 {
		rec := record(fmt.Sprint("full-", n))
		rec.Spec = make([]byte, 100_000)
		if err := store.Create(t.Context(), rec); err == nil {
			t.Fatal("the disk is not full")
		}
	}
	if after := openFiles(t); after > before+8 {
		t.Errorf("%d files were open before 100 writes failed, %d are afterwards", before, after)
	}
	free()
	if err := store.Create(t.Context(), record("after")); err != nil {
		t.Errorf("there is space again: %v", err)
	}
	for _, id := range []string{"before", "after"} {
		if _, err := store.Load(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
}

// fillDisk lets no file grow beyond the size of this one until space is made free.
func fillDisk(t *testing.T, file string) (free func()) {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ) // the write fails, and that is enough
	set := func(limit syscall.Rlimit) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
	}
	free = func() { set(was) }
	t.Cleanup(free)
	set(syscall.Rlimit{Cur: uint64(info.Size()), Max: was.Max})
	return free
}

// openFiles counts the files this process has open.
func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(files)
}
