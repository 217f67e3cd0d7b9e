package testenv_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

// TestNoServerOutlivesAKilledBinary runs this test binary as a child, which
// starts a server and is then killed, so that no clean-up of its own can run.
func TestNoServerOutlivesAKilledBinary(t *testing.T) {
	testenv.Redis(t, nil) // skips here, not in the child, when there is no server
	child := exec.Command(os.Args[0], "-test.run=^TestChildStartsAServer$", "-test.v")
	child.Env = append(os.Environ(), "BEDROCK_TESTENV_CHILD=1", "TMPDIR="+testenv.ShortTemp(t))
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	addr := readAddr(t, bufio.NewScanner(out))
	if !accepts(addr) {
		t.Fatalf("the child's server %s does not run", addr)
	}
	_ = child.Process.Kill()
	_ = child.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	for accepts(addr) {
		if ctx.Err() != nil {
			t.Fatalf("server %s outlived its test binary", addr)
		}
	}
}

// TestChildStartsAServer is the child of the test above, and does nothing
// otherwise. The thread that asked for the server has gone before the address is
// told, which must not end the server either.
func TestChildStartsAServer(t *testing.T) {
	if os.Getenv("BEDROCK_TESTENV_CHILD") == "" {
		return
	}
	type start struct {
		server *testenv.RedisServer
		thread int
	}
	started := make(chan start)
	go onMortalThread(func() {
		started <- start{testenv.Redis(t, nil), syscall.Gettid()}
	})
	s := <-started
	for threadLives(s.thread) {
		runtime.Gosched()
	}
	s.server.Do("PING") // the kernel would still accept connections for the dead
	t.Logf("addr=%s", s.server.Addr())
	select {} // until killed
}

// onMortalThread runs f on a thread that ends with the calling goroutine. The
// main thread never ends, so it is kept busy.
func onMortalThread(f func()) {
	runtime.LockOSThread() // never unlocked: that is what ends the thread
	if syscall.Gettid() == os.Getpid() {
		go onMortalThread(f)
		select {}
	}
	f()
}

func threadLives(id int) bool {
	_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", id))
	return err == nil
}

// readAddr finds the server's address in the child's output.
func readAddr(t *testing.T, lines *bufio.Scanner) string {
	t.Helper()
	for lines.Scan() {
		if _, addr, ok := strings.Cut(lines.Text(), "addr="); ok {
			return addr
		}
	}
	t.Fatalf("the child ended without an address: %v", lines.Err())
	return ""
}
