//go:build !unix

package child

import "syscall"

func attributes(bool) *syscall.SysProcAttr { return nil }
