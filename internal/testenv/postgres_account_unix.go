//go:build unix

package testenv

import "syscall"

// attributes start a process as the account, which root may do for anybody.
func (a account) attributes() *syscall.SysProcAttr {
	attr := dieWithParent()
	if !a.other {
		return attr
	}
	if attr == nil {
		attr = &syscall.SysProcAttr{}
	}
	attr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	return attr
}
