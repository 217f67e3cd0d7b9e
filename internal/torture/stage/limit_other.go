//go:build !linux

package stage

import "errors"

// CanLimitFiles reports whether the files of another process can be limited here.
const CanLimitFiles = false

// NoLimit lifts the limit again.
const NoLimit = ^uint64(0)

// LimitFiles cannot limit other processes here.
func LimitFiles(int, uint64) error { return errors.ErrUnsupported }
