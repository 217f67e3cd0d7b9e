package child

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of the kernel's processor times: USER_HZ is 100 on all
// platforms Go runs on.
const tick = 10 * time.Millisecond

// CPU returns the processor time that a process and its children have used.
// PostgreSQL serves each connection by a child.
func CPU(pid int) (time.Duration, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	var total time.Duration
	found := false
	for _, path := range stats {
		s, ok := readStat(path)
		if ok && (s.pid == pid || s.parent == pid) {
			total += s.own
			found = true
		}
	}
	if !found {
		return 0, fmt.Errorf("process %d is gone", pid)
	}
	return total, nil
}

// Tree returns the processor time that a process has used with everything it has
// started, now gone or not.
func Tree(pid int) (time.Duration, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	processes := make(map[int]stat)
	for _, path := range stats {
		if s, ok := readStat(path); ok {
			processes[s.pid] = s
		}
	}
	var total time.Duration
	for id, s := range processes {
		for id != 0 && id != pid {
			id = processes[id].parent
		}
		if id == pid {
			total += s.own + s.reaped
		}
	}
	return total, nil
}

// Busy returns the processor time that everything on this machine has used.
func Busy() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, fmt.Errorf("read processor time: %w", err)
	}
	const user, nice, system, irq, softirq = 1, 2, 3, 6, 7
	first, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(first)
	var ticks int64
	for _, i := range []int{user, nice, system, irq, softirq} {
		if i >= len(fields) {
			return 0, fmt.Errorf("read processor time: %q", first)
		}
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read processor time: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}

// stat is what /proc tells of a process.
type stat struct {
	pid, parent int
	// own is the process's processor time, reaped that of children that have ended.
	own, reaped time.Duration
}

// readStat reads "id (name) state parent …"; the name may hold anything. A
// process may have ended meanwhile.
func readStat(path string) (stat, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return stat{}, false
	}
	const parent, userTime, systemTime, childUser, childSystem = 1, 11, 12, 13, 14 // counted after the name
	line := string(text)
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) <= childSystem {
		return stat{}, false
	}
	var n [6]int64
	for i, field := range []string{
		filepath.Base(filepath.Dir(path)), fields[parent],
		fields[userTime], fields[systemTime], fields[childUser], fields[childSystem],
	} {
		if n[i], err = strconv.ParseInt(field, 10, 64); err != nil {
			return stat{}, false
		}
	}
	return stat{
		pid: int(n[0]), parent: int(n[1]),
		own: time.Duration(n[2]+n[3]) * tick, reaped: time.Duration(n[4]+n[5]) * tick,
	}, true
}
