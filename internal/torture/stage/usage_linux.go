package stage

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Usage is what a process takes of the machine.
type Usage struct {
	Files int           // open file descriptors
	CPU   time.Duration // since its start
}

// ticks is how the kernel counts processor time on every platform that Go runs on.
const ticks = 100

// UsageOf asks the kernel; ok is false where it does not tell.
func UsageOf(pid int) (u Usage, ok bool) {
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return u, false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return u, false
	}
	// The name in parentheses may hold anything; user and system time are the 14th and
	// 15th field, the 12th and 13th after it.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 13 {
		return u, false
	}
	var user, system int64
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		return u, false
	}
	return Usage{Files: len(files), CPU: time.Duration(user+system) * time.Second / ticks}, true
}

// FilesOf is how many open files of a process have a name that begins with a path.
func FilesOf(pid int, path string) int {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	open, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	n := 0
	for _, f := range open {
		if name, err := os.Readlink(filepath.Join(dir, f.Name())); err == nil && strings.HasPrefix(name, path) {
			n++
		}
	}
	return n
}
