//go:build unix && !linux

package child

import "syscall"

// attributes make the command lead a process group.
func attributes(group bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: group}
}
