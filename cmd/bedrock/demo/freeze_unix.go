//go:build unix

package demo

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/child"
)

// canFreeze says whether processes can be paused here.
const canFreeze = true

// freeze pauses the process, and returns when it has stopped: on another CPU it
// runs on for a moment after the signal was sent.
func freeze(p *child.Process) error {
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

func thaw(p *child.Process) { p.Signal(syscall.SIGCONT) }
