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
	err = flock(f, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// awaitFile locks a file as soon as nobody else has it locked.
func awaitFile(f *os.File) error { return flock(f, unix.LOCK_EX) }

func unlockFile(f *os.File) error { return flock(f, unix.LOCK_UN) }

// flock keeps the file open until the kernel has answered, whoever closes it.
func flock(f *os.File, how int) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		for failed = unix.Flock(int(fd), how); errors.Is(failed, unix.EINTR); {
			failed = unix.Flock(int(fd), how)
		}
	})
	return errors.Join(err, failed)
}
