//go:build !linux

package testenv

import (
	"fmt"
	"os/exec"
	"strings"
)

// childrenOf lists the processes a process has started, none where there is no
// ps: no database server is started there either.
func childrenOf(parent int) []int {
	list, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		return nil
	}
	var children []int
	for line := range strings.Lines(string(list)) {
		var id, of int
		if _, err := fmt.Sscan(line, &id, &of); err == nil && of == parent {
			children = append(children, id)
		}
	}
	return children
}

// isSuspended takes it on trust.
func isSuspended(int) bool { return true }
