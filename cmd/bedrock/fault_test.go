//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/testenv"
)

// diesWithParent reports whether the kernel ends a command with its parent.
const diesWithParent = runtime.GOOS == "linux"

// program returns the program as a user would start it: TestMain has put it on
// the path.
func program(t *testing.T, args ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bedrock", args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+testenv.ShortTemp(t))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// awaitGone waits until no process has that id, or only a dead one that its new
// parent has not collected yet.
func awaitGone(t *testing.T, pid int) {
	t.Helper()
	dead := regexp.MustCompile(`(?m)^State:\s+[ZX]`)
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return
		}
		if status, err := exec.CommandContext(t.Context(), "cat",
			"/proc/"+strconv.Itoa(pid)+"/status").Output(); err == nil && dead.Match(status) {
			return
		}
	}
	t.Errorf("process %d is still there", pid)
}

// A server that dies takes the lock with it: the command must not work on.
func TestCommandEndsWhenTheServerDies(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t, nil)
	cmd, lines := program(t, "lock", "run", "job", "--backend", "redis://"+server.Addr(), "--ttl", "500ms", "--",
		"sh", "-c", "echo $$; exec sleep 60")
	pid := nextInt(t, lines)
	server.Kill()
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitLost {
		t.Errorf("exit code %d, want %d", code, exitLost)
	}
	awaitGone(t, pid)
}

// A lock of several servers outlives one of them, and a combination all but one. Of a quorum without a majority nobody
// knows who has it.
func TestCommandOutlivesServers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		kind  []string
		dying int
		code  int
	}{
		{"quorum of two", []string{"--quorum", "--quarantine", "none"}, 1, 0},
		{"quorum of one", []string{"--quorum", "--quarantine", "none"}, 2, exitLost},
		{"combination of two", []string{"--combination", "--node-timeout", "500ms"}, 1, 0},
		{"combination of one", []string{"--combination", "--node-timeout", "500ms"}, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			servers, urls := threeServers(t)
			args := append([]string{"lock", "run", "job", "--ttl", "2s"}, c.kind...)
			for _, url := range urls {
				args = append(args, "--backend", url)
			}
			cmd, lines := program(t, append(args, "--", "sh", "-c", "echo $$; exec sleep 6")...)
			pid := nextInt(t, lines)
			for _, server := range servers[:c.dying] {
				server.Kill()
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			awaitGone(t, pid)
		})
	}
}

// Whoever waits for the exit code of a lost lock does not wait for the server that is away.
func TestALostLockIsToldWhenItsCommandIsGone(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t, nil)
	cmd, lines := program(t, "lock", "run", "job", "--backend", "redis://"+server.Addr(), "--ttl", "500ms", "--",
		"sh", "-c", "echo $$; exec sleep 60")
	pid := nextInt(t, lines)
	server.Freeze()
	t.Cleanup(server.Thaw)
	awaitGone(t, pid)
	gone := time.Now()
	_ = cmd.Wait()
	if code, late := cmd.ProcessState.ExitCode(), time.Since(gone); code != exitLost || late > closeLimit*3/4 {
		t.Errorf("exit code %d, want %d; told %v after the command was gone", code, exitLost, late)
	}
}

// A lock that could not be given back is told with what becomes of it: nothing goes on in the background of a program
// that has ended. What is given back before it ends is not told of.
func TestAnUnlockGoesOnAfterTheEnd(t *testing.T) {
	t.Parallel()
	for thaws, want := range map[bool]string{
		false: "may not have been given back: .* when its --ttl is over\n$", true: "^$",
	} {
		t.Run(fmt.Sprint("thaws ", thaws), func(t *testing.T) {
			t.Parallel()
			server := testenv.Redis(t, nil)
			cmd := exec.CommandContext(t.Context(), "bedrock", "lock", "run", "job",
				"--backend", "redis://"+server.Addr(), "--ttl", "1m", "--", "cat")
			var said strings.Builder
			cmd.Stderr = &said
			in, out := pipes(t, cmd)
			echo(t, in, out) // the command has the lock
			server.Freeze()
			t.Cleanup(server.Thaw)
			if err := in.Close(); err != nil {
				t.Fatal(err)
			}
			if thaws {
				time.AfterFunc(closeLimit+closeLimit/4, server.Thaw)
			}
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
			if !regexp.MustCompile(want).MatchString(said.String()) ||
				strings.Contains(said.String(), "background") {
				t.Errorf("told: %s", said.String())
			}
		})
	}
}

// pipes starts a command, and returns what it reads and writes.
func pipes(t *testing.T, cmd *exec.Cmd) (in io.WriteCloser, out *bufio.Scanner) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	from, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return in, bufio.NewScanner(from)
}

// echo waits until a command has answered.
func echo(t *testing.T, in io.Writer, out *bufio.Scanner) {
	t.Helper()
	if _, err := io.WriteString(in, "there\n"); err != nil || !out.Scan() || out.Text() != "there" {
		t.Fatalf("%v, %q, %v", err, out.Text(), out.Err())
	}
}

// Whoever does not wait, or not for long, does not wait for a server that hangs either, and is
// told that it is the lock that was not had.
func TestAFrozenServerOutlastsTheWait(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t, nil)
	server.Freeze()
	t.Cleanup(server.Thaw)
	for wait, limit := range map[string]time.Duration{"0": answerLimit, "500ms": 500 * time.Millisecond} {
		t.Run(wait, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), "bedrock", "lock", "run", "job",
				"--backend", "redis://"+server.Addr(), "--wait", wait, "--", "true")
			var said strings.Builder
			cmd.Stderr = &said
			began := time.Now()
			_ = cmd.Run()
			took := time.Since(began)
			if code := cmd.ProcessState.ExitCode(); code != exitUnavailable || took > limit+closeLimit*3/4 {
				t.Errorf("exit code %d, want %d; told after %v", code, exitUnavailable, took)
			}
			if !strings.Contains(said.String(), `lock "job": acquire: no answer in `) {
				t.Errorf("told: %s", said.String())
			}
		})
	}
}

// Where a session begins with the connection, that is waited for no longer than the lock.
func TestAMissingEnsembleOutlastsTheWait(t *testing.T) {
	t.Parallel()
	for _, wait := range []string{"0", "500ms"} {
		began := time.Now()
		cmd := exec.CommandContext(t.Context(), "bedrock", "lock", "run", "job",
			"--backend", "zk://127.0.0.1:1", "--wait", wait, "--", "true")
		_ = cmd.Run()
		took := time.Since(began)
		if code := cmd.ProcessState.ExitCode(); code != exitUnavailable || took > answerLimit+closeLimit*3/4 {
			t.Errorf("--wait %s: exit code %d, want %d; told after %v", wait, code, exitUnavailable, took)
		}
	}
}

// Whoever gives a wait a time has an answer then, also from a server that hangs or is not there, and is told which.
func TestATimeIsNotKept(t *testing.T) {
	t.Parallel()
	server, busy := testenv.Redis(t, nil), testenv.Redis(t, nil)
	holding := func(args ...string) {
		if out, err := exec.CommandContext(t.Context(), "bedrock", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	url, closed := "redis://"+server.Addr(), "redis://"+busy.Addr()
	holding("latch", "set", "parts", "2", "--backend", closed)
	server.Freeze()
	t.Cleanup(server.Thaw)
	for name, c := range map[string]struct {
		args  []string
		limit time.Duration
		code  int
		says  string
	}{
		"latch of a frozen server": {
			[]string{"latch", "await", "parts", "--timeout", "1s", "--backend", url},
			time.Second, exitUnavailable, "deadline exceeded",
		},
		"latch of no server": {
			[]string{"latch", "await", "parts", "--timeout", "1s", "--backend", "redis://127.0.0.1:1"},
			time.Second, exitUnavailable, "connection refused",
		},
		"latch that is not open": {
			[]string{"latch", "await", "parts", "--timeout", "1s", "--backend", closed},
			time.Second, exitHeld, "2 are left",
		},
		"yield of a frozen server": {
			[]string{"lock", "yield", "job", "--wait", "--within", "1s", "--backend", url},
			time.Second, exitUnavailable, "deadline exceeded",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), "bedrock", c.args...)
			var said strings.Builder
			cmd.Stderr = &said
			began := time.Now()
			_ = cmd.Run()
			took, code := time.Since(began), cmd.ProcessState.ExitCode()
			if code != c.code || took < c.limit || took > c.limit+closeLimit*3/4 {
				t.Errorf("exit code %d, want %d; told after %v", code, c.code, took)
			}
			if !strings.Contains(said.String(), c.says) {
				t.Errorf("told: %s", said.String())
			}
		})
	}
}

// The time told of a wait is that of all of it, and not of the last look.
func TestAWaitForALatchIsToldShorter(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t, nil)
	server.Freeze()
	t.Cleanup(server.Thaw)
	began := time.Now()
	said, _ := exec.CommandContext(t.Context(), "bedrock",
		"latch", "await", "parts", "--timeout", "1s", "--backend", "redis://"+server.Addr()).CombinedOutput()
	took := time.Since(began)
	told := regexp.MustCompile(`waited ([0-9.]+m?s): `).FindSubmatch(said)
	if told == nil {
		t.Fatalf("told: %s", said)
	}
	if waited, err := time.ParseDuration(string(told[1])); err != nil || waited < time.Second || waited > took {
		t.Errorf("told %s, %v; it took %s", waited, err, took)
	}
}

// A server that speaks no TLS is silent to who does, and does not say why.
func TestAPortWithoutTLSIsNotTold(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t, nil)
	secured := "rediss://" + server.Addr()
	for hinted, args := range map[string][]string{
		`no answer in .*the URL asks for TLS`: {
			"lock", "run", "job", "--wait", "500ms", "--backend", secured, "--", "true",
		},
		`waited .*the URL asks for TLS`: {
			"latch", "await", "parts", "--timeout", "500ms", "--backend", secured,
		},
		`connection refused$`: {
			"latch", "await", "parts", "--timeout", "1s", "--backend", "rediss://127.0.0.1:1",
		},
	} {
		said, err := exec.CommandContext(t.Context(), "bedrock", args...).CombinedOutput()
		if err == nil || !regexp.MustCompile(hinted).Match(bytes.TrimSpace(said)) {
			t.Errorf("%v: %v, told: %s", args, err, said)
		}
	}
}

// The server hangs while somebody waits for a lock that another one has: it was held when it answered last.
func TestAServerThatHangsAmidAWaitMakesItLonger(t *testing.T) {
	t.Parallel()
	const wait = 2 * time.Second
	server := testenv.Redis(t, nil)
	holder, lines := program(t, "lock", "run", "job", "--backend", "redis://"+server.Addr(), "--",
		"sh", "-c", "echo $$; exec sleep 60")
	defer func() { _ = holder.Process.Kill(); _ = holder.Wait() }()
	nextInt(t, lines)
	cmd := exec.CommandContext(t.Context(), "bedrock", "lock", "run", "job",
		"--backend", "redis://"+server.Addr(), "--wait", wait.String(), "--", "true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	awaitWaiter(t, "redis://"+server.Addr(), "job")
	began := time.Now() // at the latest
	server.Freeze()
	t.Cleanup(server.Thaw)
	_ = cmd.Wait()
	if code, took := cmd.ProcessState.ExitCode(), time.Since(began); code != exitHeld || took > wait+closeLimit/2 {
		t.Errorf("exit code %d, want %d; told after %v", code, exitHeld, took)
	}
}

// When bedrock itself is killed, nobody is left to end the command. The kernel does it,
// and for the command alone: what that has started works on, and lock run says so.
func TestCommandDiesWithBedrock(t *testing.T) {
	t.Parallel()
	if !diesWithParent {
		t.Skip("the kernel cannot tie a process to its parent here")
	}
	server := testenv.Redis(t, nil)
	cmd, lines := program(t, "lock", "run", "job", "--backend", "redis://"+server.Addr(), "--", "sh", "-c",
		"echo $$; exec sleep 60")
	pid := nextInt(t, lines)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	awaitGone(t, pid)
}

// However the demonstration ends, its workers end with it, also a paused one.
func TestDemoLeavesNoProcess(t *testing.T) {
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		when   string
	}{
		{"interrupted", syscall.SIGINT, "has the lock"},
		{"terminated while one is paused", syscall.SIGTERM, "is paused"},
		{"killed while one is paused", syscall.SIGKILL, "is paused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.signal == syscall.SIGKILL && !diesWithParent {
				t.Skip("the kernel cannot tie a process to its parent here")
			}
			cmd, lines := program(t, "demo")
			pids, when := watchDemo(lines, c.when)
			if len(pids) != 3 || !when {
				t.Fatalf("%d workers seen, moment %q seen: %v", len(pids), c.when, when)
			}
			_ = cmd.Process.Signal(c.signal)
			if err := cmd.Wait(); err == nil {
				t.Error("an interrupted demonstration succeeded")
			}
			for _, pid := range pids {
				awaitGone(t, pid)
			}
		})
	}
}

// watchDemo reads the story until a line matches, and returns the workers' ids.
func watchDemo(lines *bufio.Scanner, until string) (pids []int, seen bool) {
	started := regexp.MustCompile(`is process (\d+)$`)
	moment := regexp.MustCompile(until)
	for lines.Scan() {
		if m := started.FindStringSubmatch(lines.Text()); m != nil {
			pid, _ := strconv.Atoi(m[1])
			pids = append(pids, pid)
		}
		if moment.MatchString(lines.Text()) {
			return pids, true
		}
	}
	return pids, false
}

func nextInt(t *testing.T, lines *bufio.Scanner) int {
	t.Helper()
	if !lines.Scan() {
		t.Fatal("no output")
	}
	n, err := strconv.Atoi(lines.Text())
	if err != nil {
		t.Fatal(err)
	}
	return n
}
