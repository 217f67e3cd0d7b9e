package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// childrenOf lists the processes a process has started and that still run.
func childrenOf(parent int) []int {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is right
	var children []int
	for _, stat := range stats {
		id, of := parentIn(stat)
		if of == parent {
			children = append(children, id)
		}
	}
	return children
}

// parentIn reads a process's own number and its parent's, zero when it has gone.
// The line is "id (name) state parent …", and the name may hold anything.
func parentIn(stat string) (id, parent int) {
	b, err := os.ReadFile(stat)
	if err != nil {
		return 0, 0
	}
	line := string(b)
	var state string
	if _, err := fmt.Sscan(line[strings.LastIndexByte(line, ')')+1:], &state, &parent); err != nil {
		return 0, 0
	}
	id, _ = strconv.Atoi(filepath.Base(filepath.Dir(stat)))
	return id, parent
}

// isSuspended reports whether no thread of a process runs any more.
func isSuspended(pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return false
	}
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		_, state, _ := strings.Cut(string(text), ") ") // the name before it may be anything
		if err == nil && !strings.HasPrefix(state, "T") {
			return false
		}
	}
	return true
}
