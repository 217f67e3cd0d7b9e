package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// process is a running child.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the child is gone and reaped
}

// startProcess starts a child whose output is appended to the file log.
func startProcess(path string, args []string, dir, log string) (*process, error) {
	out, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open server log: %w", err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.SysProcAttr = dieWithParent()
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go p.run(started)
	err = <-started
	_ = out.Close() // the child has its own copy
	if err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	return p, nil
}

// run starts the child and waits for its end on one operating system thread.
// The kernel ties the child to the thread that started it, not to the process,
// so that thread must live as long as the child does.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.done)
	err := p.cmd.Start()
	started <- err
	if err == nil {
		_ = p.cmd.Wait()
	}
}

// sendSignal sends sig to the child, which may have ended already.
func (p *process) sendSignal(sig os.Signal) { _ = p.cmd.Process.Signal(sig) }

// kill ends the child at once, also a frozen one, and waits until it is gone.
func (p *process) kill() {
	p.sendSignal(os.Kill)
	<-p.done
}

// isGone reports whether the child is gone.
func (p *process) isGone() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}
