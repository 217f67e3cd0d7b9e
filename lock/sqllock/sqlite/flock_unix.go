//go:build linux || darwin

package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const canLockFiles = true

// lockFile locks a file for as long as it is open, unless somebody else has it open and locked.
func lockFile(f *os.File) (locked bool, err error) {
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
