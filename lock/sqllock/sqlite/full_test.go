//go:build linux || darwin

package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestFullDiskIsARefusal: it may be tried again, and when there is space it succeeds. What is limited is the process,
// so the test is run by one of its own.
func TestFullDiskIsARefusal(t *testing.T) {
	const alone = "BEDROCK_ALONE"
	if os.Getenv(alone) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), alone+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "locks.db")
	b := openBackend(t, path, nil)
	held, err := b.Acquire(t.Context(), request("a", "o:1"))
	if err != nil {
		t.Fatal(err)
	}
	free := fillDisk(t, path+"-wal")
	failed := 0
	for n := range 40 {
		req := request(fmt.Sprint("n", n), "o:1")
		req.Meta = strings.Repeat("x", driver.MaxMeta)
		if _, err := b.Acquire(t.Context(), req); err != nil {
			failed++
			if errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrHeld) {
				t.Errorf("a full disk: %v", err)
			}
		}
	}
	if failed == 0 {
		t.Error("the disk is not full")
	}
	free()
	if err := b.Renew(t.Context(), []driver.Grant{held})[0]; err != nil {
		t.Errorf("there is space again: %v", err)
	}
	if _, err := b.Acquire(t.Context(), request("after", "o:1")); err != nil {
		t.Errorf("there is space again: %v", err)
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
