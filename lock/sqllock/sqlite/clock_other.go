//go:build !linux

package sqlite

import (
	"runtime"
	"time"
)

// leaseClock is the clock that leases end by, in microseconds: the time of day, since one boot cannot be told from the
// next here.
func leaseClock() int64 { return time.Now().UnixMicro() }

// bootID is the same for all starts of the machine.
func bootID() (string, error) { return "by the time of day, " + runtime.GOOS, nil }
