package child

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Command is the argument that makes this program a child; its role follows.
const Command = "child"

// patience is how long a child may take to end by itself.
const patience = 15 * time.Second

// Process is a child seen from the process that started it. It may be used by
// several goroutines.
type Process struct {
	role  string
	cmd   *exec.Cmd
	input io.Closer
	words bytes.Buffer

	mu   sync.Mutex // one order at a time
	pipe *Pipe
	ends func()
	gone chan struct{}
}

// Start runs a child, gives it its job and waits until it is ready; what it says
// then goes into ready. It dies with this process, or when ctx ends.
func Start(ctx context.Context, role string, job, ready any) (*Process, error) {
	p := &Process{role: role, gone: make(chan struct{})}
	if err := p.run(ctx); err != nil {
		return nil, fmt.Errorf("start %s: %w", role, err)
	}
	err := p.pipe.writeMessage(job)
	if err == nil {
		err = p.pipe.readReply(ready)
	}
	if err != nil {
		return nil, p.killWith(err)
	}
	return p, nil
}

// run starts the process with pipes to it.
func (p *Process) run(ctx context.Context) error {
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	p.cmd = exec.CommandContext(ctx, executable, Command, p.role)
	p.cmd.Stderr = &p.words
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	input, err := p.cmd.StdinPipe()
	if err != nil {
		return err
	}
	// Not StdoutPipe: Wait closes that one while it may still be read.
	output, writes, err := os.Pipe()
	if err != nil {
		return err
	}
	p.cmd.Stdout = writes
	p.pipe, p.input = NewPipe(output, input), input
	p.ends = sync.OnceFunc(func() { _ = output.Close() })
	err = p.cmd.Start()
	_ = writes.Close() // the child has its own
	if err != nil {
		p.ends()
		return err
	}
	go p.reap()
	return nil
}

// reap waits for the end of the process.
func (p *Process) reap() {
	_ = p.cmd.Wait()
	close(p.gone)
}

// ID is the process id.
func (p *Process) ID() int { return p.cmd.Process.Pid }

// Ask gives an order and reads the answer into target; args and target may be nil.
func (p *Process) Ask(name string, args, target any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	text, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("%s: %s: %w", p.role, name, err)
	}
	if err := p.pipe.writeMessage(order{Name: name, Args: text}); err != nil {
		return p.killWith(fmt.Errorf("%s: %w", name, err))
	}
	if err := p.pipe.readReply(target); err != nil {
		return fmt.Errorf("%s: %s: %w", p.role, name, err)
	}
	return nil
}

// Stop lets the child end by itself, and kills it when it does not.
func (p *Process) Stop() error {
	_ = p.input.Close()
	defer p.ends()
	select {
	case <-p.gone:
	case <-time.After(patience):
		p.Kill()
		return fmt.Errorf("%s did not end within %v", p.role, patience)
	}
	if !p.cmd.ProcessState.Success() {
		return p.killWith(fmt.Errorf("ended with %v", p.cmd.ProcessState))
	}
	return nil
}

// Kill ends the child at once; it is harmless when it has ended already.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.gone
	p.ends()
}

// killWith kills the child and adds its last words to err.
func (p *Process) killWith(err error) error {
	p.Kill()
	if words := strings.TrimSpace(p.words.String()); words != "" {
		return fmt.Errorf("%s: %w: %s", p.role, err, words)
	}
	return fmt.Errorf("%s: %w", p.role, err)
}
