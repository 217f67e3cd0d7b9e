package child

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Process is a command that has been started.
type Process struct {
	cmd   *exec.Cmd
	group bool
	done  chan struct{} // closed when the command has ended and is reaped
}

// Start starts cmd, which on Linux dies with this program. With group it leads a
// process group of its own, and signals go to all in the group.
func Start(cmd *exec.Cmd, group bool) (*Process, error) {
	cmd.SysProcAttr = attributes(group)
	p := &Process{cmd: cmd, group: group, done: make(chan struct{})}
	started := make(chan error, 1)
	go p.run(started)
	return p, <-started
}

// run starts the command and waits for it on one operating system thread: the
// kernel ties the command's life to the thread that started it, see attributes.
func (p *Process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err == nil {
		_ = p.cmd.Wait() // its outcome is in ProcessState
		close(p.done)
	}
}

// Pid returns the process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the command has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// End tells the command to end, kills it after the grace time, and waits for
// its end. Of a group that goes for all who are in it, and nobody is left.
func (p *Process) End(grace time.Duration) {
	p.terminate()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	p.awaitAll(timer.C)
	p.Kill()
}

// lookEvery is how often to look whether any of a group is left.
const lookEvery = 10 * time.Millisecond

// awaitAll waits for the end of the command, and of all who are in its group, or until
// the time is over.
func (p *Process) awaitAll(over <-chan time.Time) {
	select {
	case <-p.done:
	case <-over:
		return
	}
	if !p.group {
		return
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for others := (others{group: p.Pid()}); others.areLeft(); {
		select {
		case <-look.C:
		case <-over:
			return
		}
	}
}

// Kill ends the command at once, also a stopped one, and waits for its end.
func (p *Process) Kill() {
	p.Signal(os.Kill)
	<-p.done
}

// Code returns the exit code the way shells count.
func (p *Process) Code() int {
	state := p.cmd.ProcessState
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
