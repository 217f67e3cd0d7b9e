package testenv

import "syscall"

// attributes are none: there is no root to be anybody else than.
func (a account) attributes() *syscall.SysProcAttr { return dieWithParent() }
