//go:build linux || darwin

package sqlite

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// isDiskFull reports whether there is no room left for what is made in a folder.
func isDiskFull(folder string) bool {
	var at unix.Statfs_t
	if unix.Statfs(folder, &at) != nil {
		return false
	}
	return at.Bavail*uint64(at.Bsize) < leastSpace
}

// whyShut says what this process may not do with a database, and what is beside it; empty if it may do everything.
func whyShut(path string) string {
	folder := filepath.Dir(path)
	for _, need := range []struct {
		path, what string
		access     uint32
	}{
		{folder, "search", unix.X_OK},
		{path, "read and write", unix.R_OK | unix.W_OK},
		{folder, "make files in", unix.W_OK},
	} {
		if unix.Faccessat(unix.AT_FDCWD, need.path, need.access, unix.AT_EACCESS) == unix.EACCES {
			self := userName(os.Geteuid())
			return fmt.Sprintf("this process, of %s, may not %s %s", self, need.what, whose(need.path))
		}
	}
	return ""
}

// whose says of a file whose it is, and who may do what.
func whose(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return path
	}
	if at, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%s, which is of %s with mode %04o", path, userName(int(at.Uid)), info.Mode().Perm())
	}
	return path
}

// userName is the number of a user, and the name if there is one.
func userName(id int) string {
	number := strconv.Itoa(id)
	if u, err := user.LookupId(number); err == nil {
		return fmt.Sprintf("user %s (%s)", u.Username, number)
	}
	return "user " + number
}
