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
			total += s.used
			found = true
		}
	}
	if !found {
		return 0, fmt.Errorf("process %d is gone", pid)
	}
	return total, nil
}

// stat is what /proc tells of a process.
type stat struct {
	pid, parent int
	used        time.Duration
}

// readStat reads "id (name) state parent …"; the name may hold anything. A
// process may have ended meanwhile.
func readStat(path string) (stat, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return stat{}, false
	}
	const parent, userTime, systemTime = 1, 11, 12 // counted after the name
	line := string(text)
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) <= systemTime {
		return stat{}, false
	}
	var s stat
	var user, system int64
	for _, f := range []struct {
		text string
		into func(int64)
	}{
		{filepath.Base(filepath.Dir(path)), func(n int64) { s.pid = int(n) }},
		{fields[parent], func(n int64) { s.parent = int(n) }},
		{fields[userTime], func(n int64) { user = n }},
		{fields[systemTime], func(n int64) { system = n }},
	} {
		n, err := strconv.ParseInt(f.text, 10, 64)
		if err != nil {
			return stat{}, false
		}
		f.into(n)
	}
	s.used = time.Duration(user+system) * tick
	return s, true
}
