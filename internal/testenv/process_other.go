//go:build !linux

package testenv

import "syscall"

// dieWithParent has no counterpart outside Linux; the tests' own clean-up has
// to do there.
func dieWithParent() *syscall.SysProcAttr { return nil }

// isStopped has no counterpart outside Linux.
func isStopped(int) bool { return true }
