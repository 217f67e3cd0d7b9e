//go:build unix

package main

import (
	"bufio"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

// member starts a process that takes part in an election, whose command prints its process id and token, and goes on.
func member(t *testing.T, backend, ttl string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	return program(t, "elect", "scheduler", "--backend", backend, "--ttl", ttl, "--",
		"sh", "-c", "echo $$ $BEDROCK_LOCK_TOKEN; exec sleep 60")
}

// nextTerm reads what the command of a member that leads has printed.
func nextTerm(t *testing.T, lines *bufio.Scanner) (pid, token int) {
	t.Helper()
	if !lines.Scan() {
		t.Fatal("no output")
	}
	first, second, _ := strings.Cut(lines.Text(), " ")
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	if token, err = strconv.Atoi(second); err != nil {
		t.Fatal(err)
	}
	return pid, token
}

// TestALeaderThatIsKilledIsNotReplaced, within the time that its term has left, and by a term with a higher token.
func TestALeaderThatIsKilledIsNotReplaced(t *testing.T) {
	t.Parallel()
	const ttl = 2 * time.Second
	backend := "redis://" + testenv.Redis(t, nil).Addr()
	leader, lines := member(t, backend, ttl.String())
	pid, token := nextTerm(t, lines)
	other, others := member(t, backend, ttl.String())
	defer func() { _ = other.Process.Signal(syscall.SIGTERM); _ = other.Wait() }()
	awaitWaiter(t, backend, "scheduler")
	if err := leader.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	_ = leader.Wait()
	if diesWithParent {
		awaitGone(t, pid)
	} else {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	_, next := nextTerm(t, others)
	if took := time.Since(killed); took > ttl+time.Second || next <= token {
		t.Errorf("taken over after %v with token %d after %d", took, next, token)
	}
}

// awaitWaiter waits until somebody waits for the lock.
func awaitWaiter(t *testing.T, backend, name string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		shown, err := exec.CommandContext(t.Context(), "bedrock", "lock", "show", name,
			"--backend", backend, "-o", "json").Output()
		if err == nil && strings.Contains(string(shown), `"waiting": 1`) {
			return
		}
	}
	t.Fatal("nobody waits")
}

// TestAMemberGivesUpWithItsBackend: while the server is away the command must not run, and then it leads again.
func TestAMemberGivesUpWithItsBackend(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t, nil)
	cmd, lines := member(t, "redis://"+server.Addr(), "500ms")
	defer func() { _ = cmd.Process.Signal(syscall.SIGTERM); _ = cmd.Wait() }()
	pid, _ := nextTerm(t, lines)
	server.Freeze()
	awaitGone(t, pid)
	server.Thaw()
	if again, _ := nextTerm(t, lines); again == pid {
		t.Errorf("process %d again", again)
	}
}

// TestAnObserverNeedsItsBackendAtTheStart: it waits for one that is away, and says so. One that refuses ends it.
func TestAnObserverNeedsItsBackendAtTheStart(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t, &testenv.RedisOptions{Password: "secret"})
	server.Kill()
	observe := func(password string) (*exec.Cmd, *bufio.Scanner) {
		cmd := exec.CommandContext(t.Context(), "bedrock", "elect", "scheduler", "--observe",
			"--backend", "redis://:"+password+"@"+server.Addr())
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		said, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line := bufio.NewScanner(said); password == "secret" &&
			(!line.Scan() || !strings.HasPrefix(line.Text(), "bedrock: still trying: ")) {
			t.Errorf("told: %q", line.Text())
		}
		go func() { _, _ = io.Copy(io.Discard, said) }()
		return cmd, bufio.NewScanner(out)
	}
	patient, lines := observe("secret")
	server.Restart(true)
	if !lines.Scan() || !strings.Contains(lines.Text(), "nobody leads") {
		t.Errorf("seen: %q", lines.Text())
	}
	_ = patient.Process.Signal(syscall.SIGTERM)
	if err := patient.Wait(); err != nil {
		t.Error(err)
	}
	wrong, _ := observe("wrong")
	_ = wrong.Wait()
	if code := wrong.ProcessState.ExitCode(); code != exitUnavailable {
		t.Errorf("exit code %d of a wrong password", code)
	}
}
