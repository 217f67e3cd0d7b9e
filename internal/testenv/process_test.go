package testenv_test

import (
	"bufio"
	"context"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

func TestFrozenServerAnswersAfterThaw(t *testing.T) {
	t.Parallel()
	s := testenv.Redis(t, nil)
	s.Freeze()
	answered := make(chan error, 1)
	go func() {
		_, err := s.Try("PING")
		answered <- err
	}()
	select {
	case err := <-answered:
		t.Fatalf("a frozen server answered: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	s.Thaw()
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
}

func TestFrozenServerIsStopped(t *testing.T) {
	var addr string
	t.Run("started and frozen", func(t *testing.T) {
		s := testenv.Redis(t, nil)
		addr = s.Addr()
		s.Freeze()
	})
	if accepts(addr) {
		t.Fatal("a frozen server outlived its test")
	}
}

// TestNoServerOutlivesAKilledBinary runs this test binary as a child, which
// starts a server and is then killed, so that no clean-up of its own can run.
func TestNoServerOutlivesAKilledBinary(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux kills children with their parent")
	}
	testenv.Redis(t, nil) // skips here, not in the child, when there is no server
	child := exec.Command(os.Args[0], "-test.run=^TestChildStartsAServer$", "-test.v")
	child.Env = append(os.Environ(), "BEDROCK_TESTENV_CHILD=1")
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

// TestChildStartsAServer is the child of the test above. The goroutine that
// asks for the server ends with its thread, which must not end the server.
func TestChildStartsAServer(t *testing.T) {
	if os.Getenv("BEDROCK_TESTENV_CHILD") == "" {
		t.Skip("runs only as a child")
	}
	started := make(chan *testenv.RedisServer)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends here
		started <- testenv.Redis(t, nil)
	}()
	t.Logf("addr=%s", (<-started).Addr())
	<-t.Context().Done()
	select {} // until killed
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

func accepts(addr string) bool {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
