package child

import (
	"os"
	"path/filepath"
	"strconv"
)

// Threads returns the threads of a process and of its children.
func Threads(pid int) (threads []int) {
	processes := []int{pid}
	all, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is a good one
	for _, path := range all {
		if s, ok := readStat(path); ok && s.parent == pid {
			processes = append(processes, s.pid)
		}
	}
	for _, process := range processes {
		tasks, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(process), "task"))
		if err != nil {
			continue // it has ended
		}
		for _, task := range tasks {
			if id, err := strconv.Atoi(task.Name()); err == nil {
				threads = append(threads, id)
			}
		}
	}
	return threads
}
