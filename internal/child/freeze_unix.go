//go:build unix

package child

import (
	"errors"
	"fmt"
	"syscall"
)

// CanFreeze reports whether processes can be paused here.
const CanFreeze = true

// Freeze pauses the process, and returns when it has stopped: on another CPU it runs on
// for a moment after the signal was sent.
func (p *Process) Freeze() error {
	p.Signal(syscall.SIGSTOP)
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(p.Pid(), &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return fmt.Errorf("pause process %d: %w", p.Pid(), err)
		case !status.Stopped():
			return fmt.Errorf("pause process %d: it has ended", p.Pid())
		default:
			return nil
		}
	}
}

// Thaw lets a paused process go on.
func (p *Process) Thaw() { p.Signal(syscall.SIGCONT) }
