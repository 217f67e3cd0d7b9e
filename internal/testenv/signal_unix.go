//go:build unix

package testenv

import (
	"os"
	"syscall"
)

// The signals that stop a process politely, suspend it and let it go on.
func terminateSignal() os.Signal { return syscall.SIGTERM }
func freezeSignal() os.Signal    { return syscall.SIGSTOP }
func thawSignal() os.Signal      { return syscall.SIGCONT }
