package child

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// others are those in a group whose first has ended. No other group has its id while
// there are any.
type others struct {
	group int
	seen  string // one of them, if any was found
}

// areLeft reports whether there are any who can be told to end. Who has ended counts for the
// kernel until its parent asks what became of it, which the first process of a container may
// never do; not here.
func (o *others) areLeft() bool {
	if syscall.Kill(-o.group, 0) != nil {
		return false
	}
	// Who is started during the first search is there in the second.
	return o.seen != "" && o.isOne(o.seen) || o.findOne() || o.findOne()
}

// findOne looks for one of them. Where nobody can be looked at, there is one.
func (o *others) findOne() bool {
	dir, err := os.Open("/proc")
	if err != nil {
		return true
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil || len(names) == 0 {
		return true
	}
	for _, pid := range names {
		if _, err := strconv.Atoi(pid); err == nil && o.isOne(pid) {
			o.seen = pid
			return true
		}
	}
	return false
}

// isOne reports whether a process is in the group, and has not ended.
func (o *others) isOne(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	// PID (PROGRAM) STATE PARENT GROUP …, and the program's name may be anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	return len(fields) > 2 && string(fields[2]) == strconv.Itoa(o.group) &&
		fields[0][0] != 'Z' && fields[0][0] != 'X'
}
