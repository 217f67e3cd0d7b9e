//go:build linux || darwin

package sqlite

import (
	"io/fs"
	"os"
	"syscall"
)

const (
	noFollow = syscall.O_NOFOLLOW // refuses a name that is a link
	noWait   = syscall.O_NONBLOCK // for somebody at the other end of a pipe
)

// giveTo gives a file to the owner of another one, which root may alone, and to its group.
func giveTo(f *os.File, made, like fs.FileInfo) {
	from, known := made.Sys().(*syscall.Stat_t)
	to, also := like.Sys().(*syscall.Stat_t)
	if !known || !also || from.Uid == to.Uid && from.Gid == to.Gid {
		return
	}
	owner := -1 // left as it is
	if os.Geteuid() == 0 {
		owner = int(to.Uid)
	}
	_ = f.Chown(owner, int(to.Gid))
}
