package sqlite_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/sqlite"
)

// someUser is not root, and needs no name.
const someUser = 12345

// folderOf makes a folder of a user, whom tests can only be when they are root's.
func folderOf(t *testing.T, user int) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("this needs root")
	}
	folder := t.TempDir()
	if err := os.Chmod(filepath.Dir(folder), 0o755); err != nil { // the user has to get there
		t.Fatal(err)
	}
	if err := os.Chown(folder, user, user); err != nil {
		t.Fatal(err)
	}
	return folder
}

// asUser has this program do something as somebody else, and returns what it says.
func asUser(t *testing.T, user uint32, what, path string) string {
	t.Helper()
	cmd := exec.Command("/proc/self/exe") // whose folder the user need not see
	cmd.Env = append(os.Environ(), task+"="+what, on+"="+path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestRootShutsTheUserOut: what a process of root makes beside the file of a user is of use to him, when it lives and
// when it was killed, whoever comes first.
func TestRootShutsTheUserOut(t *testing.T) {
	const had = "had <nil> <nil>"
	path := filepath.Join(folderOf(t, someUser), "locks.db")
	if out := asUser(t, someUser, "take", path); out != had {
		t.Fatal(out)
	}
	beside, err := filepath.Glob(path + "-*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range beside { // so that root makes them all
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
	root, lines := again(t, "hold", path)
	if !lines.Scan() || lines.Text() != "held <nil> <nil> <nil>" {
		t.Fatal(lines.Text(), lines.Err())
	}
	c := open(t, path, nil)
	lease, err := c.Mutex("woken", nil).Lock(t.Context()) // this makes the file of releases
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{path + "-*", path + "-clients/*"} {
		wantOwner(t, someUser, pattern)
	}
	if err := root.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = root.Wait() // it was killed
	if out := asUser(t, someUser, "take", path); out != had {
		t.Error(out)
	}
}

// wantOwner wants all files of a pattern to be somebody's, and that there are some.
func wantOwner(t *testing.T, user uint32, pattern string) {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Errorf("%s: %v, %v", pattern, names, err)
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			t.Error(err)
			continue
		}
		//nolint:forcetypeassert // so it is on Linux
		if owner := info.Sys().(*syscall.Stat_t); owner.Uid != user || owner.Gid != user {
			t.Errorf("%s is of %d, group %d", name, owner.Uid, owner.Gid)
		}
	}
}

// useOnce takes a lock and gives it back, by which all files are there.
func useOnce(t *testing.T, path string) {
	t.Helper()
	b := openBackend(t, path, nil)
	g, err := b.Acquire(t.Context(), request("a", "o:1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Release(t.Context(), g); err != nil {
		t.Fatal(err)
	}
}

// TestGroupIsShutOut: who may use the database may use what is beside it.
func TestGroupIsShutOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o660); err != nil {
		t.Fatal(err)
	}
	useOnce(t, path)
	signs := signsOf(t, path+"-clients")
	if len(signs) != 1 {
		t.Fatal(signs)
	}
	for name, want := range map[string]os.FileMode{
		path + "-wake": 0o660, path + "-next": 0o660, path + "-now": 0o660, path + "-wal": 0o660, path + "-shm": 0o660,
		path + "-clients": 0o770, signs[0]: 0o660,
	} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// TestLinkLeadsRootAway: a user who may write beside the file may not have others write elsewhere.
func TestLinkLeadsRootAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	elsewhere := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(elsewhere, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"-wake", "-next", "-now"} {
		if err := os.Symlink(elsewhere, path+name); err != nil {
			t.Fatal(err)
		}
	}
	useOnce(t, path)
	if text, err := os.ReadFile(elsewhere); err != nil || string(text) != "kept" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestStrangerIsNotToldWhy: who may not use a file learns whose it is.
func TestStrangerIsNotToldWhy(t *testing.T) {
	folder := folderOf(t, 0)
	path := filepath.Join(folder, "locks.db")
	openBackend(t, path, nil)
	for _, c := range []struct {
		is   os.FileMode // of the folder
		path string
		want string
	}{
		{0o755, path, "user 12345, may not read and write " + path + ", which is of user root (0) with mode 0600"},
		{0o755, path + "2", "may not make files in " + folder + ", which is of user root (0) with mode 0755"},
		{0o700, path, "may not search " + folder},
		{0o700, filepath.Join(folder, "folder", "locks.db"), "permission denied"}, // and not that there is none
	} {
		if err := os.Chmod(folder, c.is); err != nil {
			t.Fatal(err)
		}
		if out := asUser(t, someUser, "take", c.path); !strings.Contains(out, c.want) {
			t.Errorf("%s in %v: %s", c.path, c.is, out)
		}
	}
}

// TestSignsAreBehindALink: what is there is somebody else's, and would be taken for what the dead have left.
func TestSignsAreBehindALink(t *testing.T) {
	path, elsewhere := filepath.Join(t.TempDir(), "locks.db"), t.TempDir()
	precious := filepath.Join(elsewhere, "precious")
	if err := os.WriteFile(precious, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, path+"-clients"); err != nil {
		t.Fatal(err)
	}
	if b, err := sqlite.OpenBackend(path, nil); err == nil {
		_ = b.Close()
		t.Error("the file was opened")
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) != 1 {
		t.Errorf("behind the link there is %v, %v", left, err)
	}
}

// TestPipeIsWaitedFor: somebody has made pipes where the files beside the database are to be.
func TestPipeIsWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	b := openBackend(t, path, nil)
	g, err := b.Acquire(t.Context(), request("a", "o:1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, beside := range []string{"-wake", "-clients/pipe"} {
		if err := syscall.Mkfifo(path+beside, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := b.Acquire(ctx, request("a", "o:2")); !errors.Is(err, driver.ErrHeld) {
		t.Error(err)
	}
	if _, err := b.Release(ctx, g); err != nil {
		t.Error(err)
	}
}
