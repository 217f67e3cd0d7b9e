//go:build unix

package demo

import (
	"syscall"

	"github.com/bedrock-go/bedrock/cmd/bedrock/internal/child"
)

// canFreeze says whether processes can be paused here.
const canFreeze = true

func freeze(p *child.Process) { p.Signal(syscall.SIGSTOP) }

func thaw(p *child.Process) { p.Signal(syscall.SIGCONT) }
