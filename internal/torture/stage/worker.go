package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/bedrock-go/bedrock/internal/child"
)

// JobVariable is the environment variable by which a process learns its job. URLs may
// hold passwords, which do not belong on a command line.
const JobVariable = "BEDROCK_TORTURE_JOB"

// Program is how this program is started again as a worker.
type Program struct {
	Executable string
	Args       []string
}

// Worker is a process of a run.
type Worker struct {
	*child.Process

	stdin io.Closer
}

// Start starts a process with a job. What it says by itself is appended to the file log.
func (p Program) Start(ctx context.Context, job any, dir, name string) (*Worker, error) {
	text, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(filepath.Join(dir, name+".log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer log.Close()
	cmd := exec.CommandContext(context.WithoutCancel(ctx), p.Executable, p.Args...)
	cmd.Env = append(os.Environ(), JobVariable+"="+string(text))
	cmd.Stdout, cmd.Stderr = log, log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	process, err := child.Start(cmd, true)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return &Worker{Process: process, stdin: stdin}, nil
}

// Dismiss tells the process to come to its end, which it hears as the end of its standard
// input, and waits for that. One that does not end in time is killed.
func (w *Worker) Dismiss(patience time.Duration) error {
	_ = w.stdin.Close()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-w.Done():
	case <-timer.C:
		w.Kill()
		return fmt.Errorf("process %d did not end within %v", w.Pid(), patience)
	}
	if code := w.Code(); code != 0 {
		return fmt.Errorf("process %d ended with code %d", w.Pid(), code)
	}
	return nil
}

// Ended reports whether the process is gone.
func (w *Worker) Ended() bool {
	select {
	case <-w.Done():
		return true
	default:
		return false
	}
}

// Job reads what a process was started for.
func Job(getenv func(string) string, job any) error {
	text := getenv(JobVariable)
	if text == "" {
		return fmt.Errorf("%s is not set: workers are started by bedrock torture, not by hand", JobVariable)
	}
	if err := json.Unmarshal([]byte(text), job); err != nil {
		return fmt.Errorf("%s: %w", JobVariable, err)
	}
	return nil
}

// UntilDismissed is a context that ends with the standard input.
func UntilDismissed(ctx context.Context, stdin io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, stdin)
	}()
	return ctx, cancel
}
