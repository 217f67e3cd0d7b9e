//go:build unix

package child_test

import (
	"bufio"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/child"
)

// script is a command that runs, and what it prints.
type script struct {
	t       *testing.T
	end     chan struct{}
	signals chan os.Signal
	result  chan child.Result
	input   *os.File
	lines   *bufio.Scanner
}

// runScript runs a script for the shell. It is given so much time once it is to end.
func runScript(t *testing.T, text string, grace time.Duration) *script {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	heedHangups(t)
	in, input := pipe(t)
	output, out := pipe(t)
	s := &script{
		t: t, input: input, lines: bufio.NewScanner(output),
		end: make(chan struct{}), signals: make(chan os.Signal), result: make(chan child.Result, 1),
	}
	c := &child.Command{
		Path: sh, Args: []string{"-c", text}, Env: os.Environ(), Stdin: in, Stdout: out, Grace: grace,
	}
	go func() {
		result, err := c.Run(s.end, s.signals)
		if err != nil {
			t.Error(err)
		}
		out.Close() // whoever reads is told when all who could write have gone
		s.result <- result
	}()
	return s
}

// heedHangups has programs begin with the default for SIGHUP: under nohup they would begin with it ignored, and a shell
// cannot trap that.
func heedHangups(t *testing.T) {
	t.Helper()
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangups) })
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// wantLine waits for what it prints next.
func (s *script) wantLine(want string) {
	s.t.Helper()
	if !s.lines.Scan() || s.lines.Text() != want {
		s.t.Fatalf("it printed %q, want %q", s.lines.Text(), want)
	}
}

// wantSilence waits until nobody is left who could print anything.
func (s *script) wantSilence() {
	s.t.Helper()
	if s.lines.Scan() {
		s.t.Errorf("it printed %q, want nothing more", s.lines.Text())
	}
}

func (s *script) wantResult(want child.Result) {
	s.t.Helper()
	if got := <-s.result; got != want {
		s.t.Errorf("it has ended with %+v, want %+v", got, want)
	}
}

// TestSignalsAreSwallowedDuringTheGrace: a command that is being ended hears of them as before. Who runs it is told of
// the last one that was meant for the program, too.
func TestSignalsAreSwallowedDuringTheGrace(t *testing.T) {
	t.Parallel()
	s := runScript(t, `trap 'echo heard TERM' TERM; trap 'echo heard HUP' HUP; trap 'exit 3' USR1
		echo ready; while :; do sleep 0.05; done`, 10*time.Second)
	s.wantLine("ready")
	close(s.end)
	s.wantLine("heard TERM")
	s.signals <- syscall.SIGHUP
	s.wantLine("heard HUP")
	s.signals <- syscall.SIGUSR1
	s.wantResult(child.Result{Code: 3, Ended: true, Signal: syscall.SIGHUP})
}

// TestGraceIsTheFirstOnesOnly: a shell ends at once, and what it has started cleans up. That has the grace, too.
func TestGraceIsTheFirstOnesOnly(t *testing.T) {
	t.Parallel()
	s := runScript(t, `(trap 'sleep 0.3; echo cleaned up; exit' TERM
		echo ready; while :; do sleep 0.05; done) & wait`, 10*time.Second)
	s.wantLine("ready")
	close(s.end)
	s.wantLine("cleaned up")
	s.wantResult(child.Result{Code: 128 + int(syscall.SIGTERM), Ended: true})
	s.wantSilence()
}

// TestWhatTheCommandHasStartedOutlivesTheGrace: it does not listen, and is killed when the grace is over.
func TestWhatTheCommandHasStartedOutlivesTheGrace(t *testing.T) {
	t.Parallel()
	const grace = 300 * time.Millisecond
	s := runScript(t, `(trap '' TERM; echo ready; while :; do sleep 0.05; done) & wait`, grace)
	s.wantLine("ready")
	began := time.Now()
	close(s.end)
	s.wantResult(child.Result{Code: 128 + int(syscall.SIGTERM), Ended: true})
	if took := time.Since(began); took < grace {
		t.Errorf("it was killed after %s, want %s", took, grace)
	}
	s.wantSilence()
}

// TestWhatTheCommandLeavesIsEnded, although the command has ended by itself.
func TestWhatTheCommandLeavesIsEnded(t *testing.T) {
	t.Parallel()
	s := runScript(t, `(read line; echo went on) <&0 & exit 4`, time.Second)
	s.wantResult(child.Result{Code: 4})
	if _, err := s.input.WriteString("go on\n"); err != nil {
		t.Fatal(err)
	}
	s.wantLine("went on")
	s.wantSilence()
}

// TestCommandThatLeavesItsGroupIsMissed: it joins that of its parent, as it may, and has to end all the same.
func TestCommandThatLeavesItsGroupIsMissed(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("perl"); err != nil {
		t.Skip(err)
	}
	s := runScript(t, `exec perl -e '
		$SIG{TERM} = sub { print "told\n" }; $| = 1;
		setpgrp(0, getpgrp(getppid())) or die; print "ready\n"; sleep 1 while 1'`, time.Second)
	s.wantLine("ready")
	close(s.end)
	s.wantLine("told")
	s.wantResult(child.Result{Code: 128 + int(syscall.SIGKILL), Ended: true})
	s.wantSilence()
}
