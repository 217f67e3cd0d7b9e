//go:build unix

package main

import (
	"bufio"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

// complaining starts the program, and returns what it says on standard error.
func complaining(t *testing.T, args ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bedrock", args...)
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(said)
}

// TestCommandsNeedZooKeeperAtTheStart: those that wait do so for a server that is not there yet, and say it.
func TestCommandsNeedZooKeeperAtTheStart(t *testing.T) {
	t.Parallel()
	server := testenv.StartZooKeeper(t, nil)[0]
	server.Kill()
	backend := "zk://" + server.Addr()
	waits, complaints := complaining(t, "lock", "run", "job", "--wait", "20s", "--backend", backend, "--", "true")
	if !complaints.Scan() || !strings.HasPrefix(complaints.Text(), `bedrock: waiting for lock "job"`) {
		t.Errorf("told: %q", complaints.Text())
	}
	member, terms := member(t, backend, "2s")
	observer, complaints := complaining(t, "elect", "scheduler", "--observe", "--backend", backend)
	if !complaints.Scan() || !strings.HasPrefix(complaints.Text(), "bedrock: still trying: ") {
		t.Errorf("told: %q", complaints.Text())
	}
	server.Restart()
	if err := waits.Wait(); err != nil {
		t.Error(err)
	}
	_, _ = nextTerm(t, terms)
	for _, cmd := range []*exec.Cmd{member, observer} {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}
	if code := observer.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d of who observes", code)
	}
}
