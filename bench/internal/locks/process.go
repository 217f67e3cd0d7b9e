package locks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/bedrock-go/bedrock/bench/internal/subject"
)

// WorkerCommand is the argument that makes this program a worker.
const WorkerCommand = "locks-worker"

// grace is how long a worker may take on top of the time it measures: to
// connect, to warm up, to let go and to report.
const grace = 20 * time.Second

// graceOf is the same of a subject: a program of another kind is slow to start, and warms up for longer.
func graceOf(s subject.Subject) time.Duration {
	if s.Program != nil {
		return 3 * grace
	}
	return grace
}

// process is a worker seen from the program that started it.
type process struct {
	*wire
	cmd    *exec.Cmd
	input  io.Closer
	errors *bytes.Buffer
}

// launch starts a worker on job and waits until it is ready to go.
func launch(ctx context.Context, job Job) (*process, error) {
	command, err := workerOf(ctx, job)
	if err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	p := &process{cmd: exec.CommandContext(ctx, command[0], command[1:]...), errors: new(bytes.Buffer)}
	p.cmd.Stderr = p.errors
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.run(job); err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	if err := errors.Join(p.writeMessage(job), p.readMessage(nil)); err != nil {
		return nil, p.killWith(err)
	}
	return p, nil
}

// workerOf returns the command that does a job.
func workerOf(ctx context.Context, job Job) ([]string, error) {
	if s, _ := subject.Find(job.Subject); s.Program != nil {
		return s.Program(ctx)
	}
	executable, err := os.Executable()
	return []string{executable, WorkerCommand}, err
}

// run starts the process in its place, with pipes to it.
func (p *process) run(job Job) error {
	input, err := p.cmd.StdinPipe()
	if err != nil {
		return err
	}
	output, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	p.wire, p.input = newWire(output, input), input
	return job.Place.confine(job.ServerProcess, p.cmd.Start)
}

// finish lets the worker end by itself and waits for that.
func (p *process) finish() error {
	_ = p.input.Close()
	if err := p.cmd.Wait(); err != nil {
		return p.killWith(err)
	}
	return nil
}

// killWith kills the worker and adds its last words to err.
func (p *process) killWith(err error) error {
	p.killProcess()
	if words := strings.TrimSpace(p.errors.String()); words != "" {
		return fmt.Errorf("worker: %w: %s", err, words)
	}
	return fmt.Errorf("worker: %w", err)
}

// killProcess ends the worker at once; it is harmless when it has ended already.
func (p *process) killProcess() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// crew is the workers of one measurement.
type crew []*process

// gather launches n workers on job.
func gather(ctx context.Context, job Job, n int) (crew, error) {
	var workers crew
	for range n {
		p, err := launch(ctx, job)
		if err != nil {
			workers.killAll()
			return nil, err
		}
		workers = append(workers, p)
	}
	return workers, nil
}

// killAll ends all workers that still run.
func (c crew) killAll() {
	for _, p := range c {
		p.killProcess()
	}
}
