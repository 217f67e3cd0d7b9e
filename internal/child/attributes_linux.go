package child

import "syscall"

// attributes make the command lead a process group, and die with this program:
// nobody would be left to end it when the lock is lost.
func attributes(group bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: group, Pdeathsig: syscall.SIGKILL}
}
