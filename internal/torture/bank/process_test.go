//go:build unix

package bank_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/bedrock-go/bedrock/internal/sleep"
	"github.com/bedrock-go/bedrock/internal/torture/stage"
)

// process is a child that can be killed, paused and started again.
type process struct {
	settings settings
	log      string
	cmd      *exec.Cmd
	stdin    io.Closer
	done     chan struct{} // closed when the child is gone
}

// patience bounds what takes milliseconds on an idle machine.
const patience = 30 * time.Second

// spawn starts a child that listens on a port of its own.
func spawn(t *testing.T, s settings) *process {
	t.Helper()
	p := &process{settings: s, log: filepath.Join(t.TempDir(), s.Name+".log")}
	t.Cleanup(func() {
		if p.cmd != nil {
			_ = p.kill() // it may be gone
		}
		if t.Failed() {
			t.Logf("%s:\n%s", s.Name, p.tail())
		}
	})
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// newAddr is an address that nobody listens on.
func newAddr(t *testing.T) string {
	t.Helper()
	addr, err := stage.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

func (p *process) url() string { return "http://" + p.settings.Addr }

// start runs the child and waits until it answers.
func (p *process) start() error {
	if err := p.launch(nil); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := until(ctx, func() bool { return p.gone() || p.answers(time.Second) })
	if p.gone() {
		err = fmt.Errorf("it ended: %v", p.cmd.ProcessState)
	}
	if err != nil {
		return fmt.Errorf("start %s: %w", p.settings.Name, err)
	}
	return nil
}

// launch runs the child.
func (p *process) launch(stdout io.Writer) error {
	text, err := json.Marshal(p.settings)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(p.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), settingsVariable+"="+string(text))
	p.cmd.Stdout, p.cmd.Stderr = stdout, log
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.settings.Name, err)
	}
	p.done = make(chan struct{})
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // its state tells
	}()
	return nil
}

func (p *process) gone() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// answers reports whether the child reacts in time.
func (p *process) answers(limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return stage.HealthOf(ctx, p.url()) != 0
}

// kill ends the child at once, and says if something else had ended it before.
func (p *process) kill() error {
	_ = p.cmd.Process.Kill() // it may be gone
	<-p.done
	if !p.killed() {
		return fmt.Errorf("kill %s: it had ended by itself: %v", p.settings.Name, p.cmd.ProcessState)
	}
	return nil
}

// killed reports whether the child died of signal 9.
func (p *process) killed() bool {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// pause stops the child while something is done, and makes sure that it was stopped
// all the time. The signal takes a moment to reach all threads.
func (p *process) pause(while func() error) error {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := until(ctx, func() bool { return !p.answers(100 * time.Millisecond) })
	if err == nil {
		err = while()
	}
	if err == nil && p.answers(100*time.Millisecond) {
		err = fmt.Errorf("%s answered while it was paused", p.settings.Name)
	}
	return errors.Join(err, p.cmd.Process.Signal(syscall.SIGCONT))
}

// stop ends the child politely.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop %s: %w", p.settings.Name, err)
	}
	select {
	case <-p.done:
	case <-time.After(patience):
		return fmt.Errorf("%s does not stop", p.settings.Name)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("%s ended with %d", p.settings.Name, code)
	}
	return nil
}

// tail is the end of the child's log.
func (p *process) tail() string {
	const enough = 4000
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-enough):])
}

// evidence is a file of single letters, which outlives those who write it.
type evidence struct{ file *os.File }

func openEvidence(path string) (*evidence, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	return &evidence{f}, err
}

func (e *evidence) add(letter byte) { _, _ = e.file.Write([]byte{letter}) }

// countEvidence counts a letter.
func countEvidence(path string, letter byte) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	return bytes.Count(text, []byte{letter})
}

// until waits until something is so.
func until(ctx context.Context, holds func() bool) error {
	for !holds() {
		if !sleep.For(ctx, 10*time.Millisecond) {
			return context.Cause(ctx)
		}
	}
	return nil
}
