package testenv_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

func TestEndedDatabaseLeavesNoProcess(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, s database) {
		for name, end := range map[string]func(){"Kill": s.Kill, "Stop": s.Stop} {
			s.CreateDatabase(name)
			client := connect(t, s, name)
			client.send(t, "SELECT 1;")
			client.expect(t, "1")
			if len(processesIn(dirOf(s))) == 0 {
				t.Fatal("no process found while the server runs")
			}
			end()
			if left := processesIn(dirOf(s)); len(left) > 0 {
				t.Errorf("%s left processes %v", name, left)
			}
			s.Restart()
		}
	})
}

// TestNoDatabaseOutlivesAKilledBinary runs this test binary as a child, which
// starts a server and is then killed, so that no clean-up of its own can run.
func TestNoDatabaseOutlivesAKilledBinary(t *testing.T) {
	t.Parallel()
	for kind, start := range databases() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			start(t) // skips here, not in the child, when there is no server
			dir := openDir(t)
			child := exec.Command(os.Args[0], "-test.run=^TestChildStartsADatabase$", "-test.v")
			child.Env = append(os.Environ(), "BEDROCK_TESTENV_DATABASE="+kind, "TMPDIR="+dir)
			out, err := child.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			addr := readAddr(t, bufio.NewScanner(out))
			if len(processesIn(dir)) == 0 {
				t.Error("no process found while the child's server runs")
			}
			_ = child.Process.Kill()
			_ = child.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			for accepts(addr) || len(processesIn(dir)) > 0 {
				if ctx.Err() != nil {
					t.Fatalf("processes %v outlived their test binary", processesIn(dir))
				}
			}
		})
	}
}

// TestChildStartsADatabase is the child of the test above, and does nothing
// otherwise.
func TestChildStartsADatabase(t *testing.T) {
	start := databases()[os.Getenv("BEDROCK_TESTENV_DATABASE")]
	if start == nil {
		return
	}
	s := start(t)
	s.CreateDatabase("db")
	t.Logf("addr=%s", s.Addr())
	select {} // until killed
}

// openDir is a temporary folder that others may pass through.
func openDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

func dirOf(s database) string {
	if s, ok := s.(*testenv.PostgresServer); ok {
		return s.Dir
	}
	return s.(*testenv.MariaDBServer).Dir
}

// processesIn lists the processes that work in a folder or below it. Both kinds
// of servers work in their data.
func processesIn(dir string) []string {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	var found []string
	for _, link := range links {
		if at, err := os.Readlink(link); err == nil && strings.HasPrefix(at, dir+"/") {
			found = append(found, filepath.Base(filepath.Dir(link)))
		}
	}
	return found
}
