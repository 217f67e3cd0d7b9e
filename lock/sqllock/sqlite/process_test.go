package sqlite_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/sqlite"
)

// What this program does when it is started again, and on which file.
const (
	task = "BEDROCK_TASK"
	on   = "BEDROCK_FILE"
)

func TestMain(m *testing.M) {
	switch os.Getenv(task) {
	case "hold":
		holdForEver(os.Getenv(on), nil)
	case "hold in another table":
		holdForEver(os.Getenv(on), &sqlite.Options{Table: "jobs"})
	case "lend":
		holdForEver(os.Getenv(on), &sqlite.Options{ForOthers: true})
	case "take":
		takeOnce(os.Getenv(on))
	case "contend":
		contend(os.Getenv(on))
	default:
		goleak.VerifyTestMain(m)
	}
}

// again starts this program again.
func again(t *testing.T, what, path string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), task+"="+what, on+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	return cmd, lines
}

// holdForEver takes locks of all kinds, and says so.
func holdForEver(path string, opts *sqlite.Options) {
	c, err := sqlite.Open(path, opts)
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		return
	}
	ctx := context.Background()
	long := lock.MutexOptions{TTL: time.Hour}
	_, err1 := c.Mutex("a", &long).Lock(ctx)
	_, err2 := c.Mutex("b", &long).Lock(ctx)
	_, err3 := c.RWMutex("rw", &lock.RWMutexOptions{TTL: time.Hour}).RLock(ctx)
	fmt.Fprintln(os.Stdout, "held", err1, err2, err3)
	select {}
}

// takeOnce takes a lock that somebody may have for a moment, gives it back, and says how that went.
func takeOnce(path string) {
	c, err := sqlite.Open(path, nil)
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err = c.Mutex("a", &lock.MutexOptions{Wait: 10 * time.Second}).Lock(ctx)
	fmt.Fprintln(os.Stdout, "had", err, c.Stop(ctx))
}

// TestDeadHolderIsWaitedFor: the lock of a process that was killed is free at once, though its lease lasts an hour.
func TestDeadHolderIsWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	c := open(t, path, nil)
	cmd, lines := again(t, "hold", path)
	if !lines.Scan() || lines.Text() != "held <nil> <nil> <nil>" {
		t.Fatal(lines.Text(), lines.Err())
	}
	if _, err := c.Mutex("b", nil).TryLock(t.Context()); err == nil {
		t.Fatal("the holder lives, and somebody else has its lock")
	}
	waits := make(chan error, 1)
	go func() {
		_, err := c.Mutex("a", &lock.MutexOptions{Wait: time.Minute}).Lock(t.Context())
		waits <- err
	}()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	if err := <-waits; err != nil {
		t.Fatal(err)
	}
	t.Logf("taken over %v after the kill", time.Since(killed))
	if took := time.Since(killed); took > 3*time.Second {
		t.Errorf("it took %v", took)
	}
	for _, m := range []lock.Lockable{c.Mutex("b", nil), c.RWMutex("rw", nil).Writer()} {
		if _, err := m.TryLock(t.Context()); err != nil {
			t.Errorf("%s: %v", m.Name(), err)
		}
	}
}

// TestGrantsOfOthersOutliveTheProcess: a server that was killed had them for its clients, who live.
func TestGrantsOfOthersOutliveTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	c := open(t, path, nil)
	cmd, lines := again(t, "lend", path)
	if !lines.Scan() || lines.Text() != "held <nil> <nil> <nil>" {
		t.Fatal(lines.Text(), lines.Err())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for _, m := range []lock.Lockable{c.Mutex("a", nil), c.Mutex("b", nil), c.RWMutex("rw", nil).Writer()} {
		if _, err := m.TryLock(t.Context()); !errors.Is(err, lock.ErrHeld) {
			t.Errorf("%s: %v, want it to be held by who has it still", m.Name(), err)
		}
	}
}

// outcome is what a process that contends says.
type outcome struct {
	Pairs int
	Tries []time.Duration // some
}

const (
	contendFor = 3 * time.Second
	contended  = 50 // names
)

// contend takes and gives back locks of many names, past the front, as fast as it can.
func contend(path string) {
	b, err := sqlite.OpenBackend(path, nil)
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		return
	}
	var o outcome
	ctx := context.Background()
	fmt.Fprintln(os.Stdout, "ready")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	for begin, n := time.Now(), 0; time.Since(begin) < contendFor; n++ {
		req := driver.Request{
			Name: strconv.Itoa((n*7 + os.Getpid()) % contended), Owner: fmt.Sprintf("p%d:%d", os.Getpid(), n),
			TTL: time.Minute, Tokens: 1,
		}
		tried := time.Now()
		g, err := b.Acquire(ctx, req)
		o.Tries = append(o.Tries, time.Since(tried))
		if err == nil {
			if _, err = b.Release(ctx, g); err != nil {
				fmt.Fprintln(os.Stdout, err)
			}
			o.Pairs++
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(o); err != nil {
		fmt.Fprintln(os.Stdout, err)
	}
}

// TestDeadOfAnotherTableAreForgotten: one file has several tables, and who uses one of them leaves the dead of the
// others to those.
func TestDeadOfAnotherTableAreForgotten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks.db")
	holder, lines := again(t, "hold in another table", path)
	if !lines.Scan() {
		t.Fatal("nothing is held")
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait() // it was killed
	usual := openBackend(t, path, nil)
	for i, want := range []error{nil, driver.ErrHeld} { // who is refused looks for the dead
		if _, err := usual.Acquire(t.Context(), request("x", fmt.Sprint("o:", i))); !errors.Is(err, want) {
			t.Fatal(err)
		}
	}
	jobs := openBackend(t, path, &sqlite.Options{Table: "jobs"})
	if _, err := jobs.Acquire(t.Context(), request("a", "p:1")); err != nil {
		t.Errorf("what the dead had is not free: %v", err)
	}
}
