package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/input"
	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/internal/sqltest"
	"github.com/bedrock-go/bedrock/lock/sqllock/sqlite"
)

// removeFile removes the file, and what SQLite keeps beside it.
func removeFile(t *testing.T, path string) {
	t.Helper()
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + end); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUnfitFileIsOpened: what is no database is left as it is.
func TestUnfitFileIsOpened(t *testing.T) {
	folder := t.TempDir()
	letter := filepath.Join(folder, "letter.txt")
	text := strings.Repeat("this is a letter, and no database at all\n", 100)
	if err := os.WriteFile(letter, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	newer := filepath.Join(folder, "newer.db")
	if err := openBackend(t, newer, nil).Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, newer, "UPDATE bedrock_locks_about SET version = 7")
	for path, says := range map[string]string{
		"": "want the name of a file", ":memory:": "package memlock", folder: "is a folder",
		filepath.Join(folder, "none", "locks.db"): "there is no folder", letter: "is no file of SQLite",
		newer: "version 7, this program knows 1",
	} {
		b, err := sqlite.OpenBackend(path, nil)
		if err == nil {
			_ = b.Close()
		}
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "other locks") {
			t.Errorf("%q: %v, want %q alone", path, err, says)
		}
	}
	if left, err := os.ReadFile(letter); err != nil || string(left) != text {
		t.Errorf("the letter was changed: %v", err)
	}
}

// TestOptionThatMakesNoSenseIsAccepted: the field is named.
func TestOptionThatMakesNoSenseIsAccepted(t *testing.T) {
	for field, opts := range map[string]*sqlite.Options{
		"busyTimeout": {BusyTimeout: time.Hour}, "table": {Table: "x; DROP TABLE y"},
	} {
		_, err := sqlite.OpenBackend(filepath.Join(t.TempDir(), "locks.db"), opts)
		if wrong, ok := errors.AsType[*input.Error](err); !ok || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// TestRefusedClientKeepsTheFileOpen: who is refused for its options has nothing of the file, and does not seem to live.
func TestRefusedClientKeepsTheFileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	if _, err := sqlite.Open(path, &sqlite.Options{Lock: lock.Options{TTL: -time.Second}}); err == nil {
		t.Fatal("a time below zero is accepted")
	}
	signs, err := os.ReadDir(path + "-clients")
	if err != nil || len(signs) > 0 {
		t.Errorf("signs %v, %v", signs, err)
	}
}

// TestOthersCannotRead: who has which locks is nobody else's business.
func TestOthersCannotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?c#d%20e&_pragma=synchronous(0).db") // all of it is a name
	b := openBackend(t, path, nil)
	if _, err := b.Acquire(t.Context(), request("a", "o:1")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{path: 0o600, path + "-wal": 0o600, path + "-clients": 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// TestFileThatMayOnlyBeReadIsWritten: it is a refusal, which trying again does not cure.
func TestFileThatMayOnlyBeReadIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	b := openBackend(t, path, nil)
	execute(t, path, "CREATE TRIGGER no BEFORE INSERT ON bedrock_locks BEGIN SELECT RAISE(ABORT, 'read-only'); END")
	_, err := b.Acquire(t.Context(), request("a", "o:1"))
	if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "read-only") {
		t.Error(err)
	}
}

// TestCheckOverlooksThatNobodyMayWrite: that the locks can be read is not enough.
func TestCheckOverlooksThatNobodyMayWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	if err := openBackend(t, path, nil).Close(); err != nil {
		t.Fatal(err)
	}
	beyondOurVersion(t, path)
	found, err := openBackend(t, path, nil).(driver.Checker).Check(t.Context())
	if err != nil || found[0].Level != driver.Danger || !strings.Contains(found[0].What, "can only be read") {
		t.Errorf("got %+v, %v", found, err)
	}
}

// beyondOurVersion has SQLite only read a file, as it does with those of a later version. Permissions do not keep root
// from writing.
func beyondOurVersion(t *testing.T, path string) {
	t.Helper()
	const writeVersion = 18 // where it is in the file
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte{3}, writeVersion); err != nil {
		t.Fatal(err)
	}
}

// TestManyMakeTheTables: all who open a new file at once find it.
func TestManyMakeTheTables(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			b, err := sqlite.OpenBackend(path, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := b.Acquire(t.Context(), request(fmt.Sprint(i), "o:1")); err != nil {
				t.Error(err)
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// TestRemovedFileIsReadOn: who reads sees the new file as well, also when who writes has seen first that it is another.
func TestRemovedFileIsReadOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	b := openBackend(t, path, nil)
	g, err := b.Acquire(t.Context(), request("a", "o:1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Acquire(t.Context(), request("a", "o:2")); !errors.Is(err, driver.ErrHeld) { // by reading
		t.Fatal(err)
	}
	removeFile(t, path)
	for range 2 {
		if err := b.Renew(t.Context(), []driver.Grant{g})[0]; err == nil {
			t.Error("what is gone is renewed")
		}
	}
	if _, err := b.Acquire(t.Context(), request("a", "o:3")); err != nil {
		t.Errorf("nobody has the lock: %v", err)
	}
}

// TestEmptiedTablesStayEmpty: test programs delete all rows between their tests.
func TestEmptiedTablesStayEmpty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	sqltest.EmptiedTablesStayEmpty(t, openBackend(t, path, nil), func() {
		for _, table := range []string{"bedrock_locks", "bedrock_locks_holders", "bedrock_locks_about"} {
			execute(t, path, "DELETE FROM "+table)
		}
	})
}

// TestLinkIsAnotherFile: who comes by a link hears of releases, and of deaths.
func TestLinkIsAnotherFile(t *testing.T) {
	folder := t.TempDir()
	path, link := filepath.Join(folder, "locks.db"), filepath.Join(folder, "link.db")
	b := openBackend(t, path, nil)
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	g, err := b.Acquire(t.Context(), request("a", "o:1"))
	if err != nil {
		t.Fatal(err)
	}
	waiter, ok := openBackend(t, link, nil).(driver.Waiter)
	if !ok {
		t.Fatal("it is no Waiter")
	}
	w, err := waiter.Watch(t.Context(), "a", driver.Mutex)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := b.Release(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	select {
	case <-w.C():
	case <-time.After(10 * time.Second):
		t.Error("it hears of no release")
	}
	for _, name := range []string{"link.db-wake", "link.db-clients"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
			t.Errorf("there is %s", name)
		}
	}
	if err := os.Symlink(filepath.Join(folder, "none.db"), filepath.Join(folder, "nowhere.db")); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.OpenBackend(filepath.Join(folder, "nowhere.db"), nil); err == nil ||
		!strings.Contains(err.Error(), "a link to a file that is not there") {
		t.Errorf("a link to nothing: %v", err)
	}
}

// TestClosedClientLosesItsLocks: what it has stays its own until its time is over, for it has not died.
func TestClosedClientLosesItsLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	b := openBackend(t, path, nil)
	g, err := b.Acquire(t.Context(), request("a", "o:1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	other := openBackend(t, path, nil)
	if _, err := other.Acquire(t.Context(), request("a", "o:2")); !errors.Is(err, driver.ErrHeld) {
		t.Error(err)
	}
	if _, err := other.Release(t.Context(), g); err != nil {
		t.Error(err)
	}
}

// TestIdleNamesPileUp: a name that nobody uses for long leaves nothing but how high tokens were.
func TestIdleNamesPileUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	b := openBackend(t, path, nil)
	vote := request("idle", "o:1")
	vote.Above = 8_000_000_000_000_000 // ahead of the clock
	g, err := b.Acquire(t.Context(), vote)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Release(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	execute(t, path, "UPDATE bedrock_locks SET touched = touched - 3700000000")
	other := openBackend(t, path, nil) // it looks round after its first step
	if _, err := other.Acquire(t.Context(), request("a", "o:1")); err != nil {
		t.Fatal(err)
	}
	look, ok := other.(driver.Inspector)
	if !ok {
		t.Fatalf("%T is no Inspector", other)
	}
	for end := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		info, err := look.Inspect(t.Context(), "idle")
		if err == nil && info.Token == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("it is still there: %+v, %v", info, err)
		}
	}
	if next, err := other.Acquire(t.Context(), request("idle", "o:2")); err != nil || next.Token <= g.Token {
		t.Errorf("token %d after %d: %v", next.Token, g.Token, err)
	}
}

// TestFileHasTwoNames: what is beside a file goes by its name, so that who knows it by another one has other locks.
func TestFileHasTwoNames(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it is not looked at")
	}
	folder := t.TempDir()
	path, mounted := filepath.Join(folder, "locks.db"), filepath.Join(folder, "mounted.db")
	openBackend(t, path, nil)
	if err := os.WriteFile(mounted, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "--bind", path, mounted).CombinedOutput(); err == nil {
		defer func() { _ = exec.Command("umount", mounted).Run() }()
		wantRefusal(t, mounted, "is mounted by itself")
	} else {
		t.Logf("no mount: %v: %s", err, out)
	}
	link := filepath.Join(folder, "link.db")
	if err := os.Link(path, link); err != nil {
		t.Skip(err)
	}
	wantRefusal(t, link, "has hard links")
}

func wantRefusal(t *testing.T, path, why string) {
	t.Helper()
	b, err := sqlite.OpenBackend(path, nil)
	if err == nil {
		_ = b.Close()
	}
	wrong, ok := errors.AsType[*input.Error](err)
	if !ok || wrong.Field != "path" || !strings.Contains(wrong.Problem, why) {
		t.Errorf("%s: %v", path, err)
	}
}
