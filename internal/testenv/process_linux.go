package testenv

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// dieWithParent makes the kernel kill the child when we die.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// isStopped reports whether all threads of a process stand still: after the signal some go on for a moment.
func isStopped(id int) bool {
	stats, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", id)) // the pattern is right
	for _, stat := range stats {
		b, err := os.ReadFile(stat)
		if state := b[bytes.LastIndexByte(b, ')')+1:]; err == nil && !bytes.HasPrefix(state, []byte(" T")) {
			return false
		}
	}
	return true
}
