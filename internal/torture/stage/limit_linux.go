package stage

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// CanLimitFiles reports whether the files of another process can be limited here.
const CanLimitFiles = true

// NoLimit lifts the limit again.
const NoLimit = unix.RLIM_INFINITY

// LimitFiles makes every write of a process fail that would let a file grow beyond a
// size, as a full disk does.
func LimitFiles(pid int, most uint64) error {
	limit := unix.Rlimit{Cur: most, Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		return fmt.Errorf("limit the files of process %d: %w", pid, err)
	}
	return nil
}
