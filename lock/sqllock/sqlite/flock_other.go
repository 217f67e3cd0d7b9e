//go:build !linux && !darwin

package sqlite

import (
	"errors"
	"os"
)

// canLockFiles is false: that a process has died is not told here, and its leases end by their time.
const canLockFiles = false

func lockFile(*os.File) (locked bool, err error) { return false, nil }

func awaitFile(*os.File) error { return errors.ErrUnsupported }

func unlockFile(*os.File) error { return errors.ErrUnsupported }
