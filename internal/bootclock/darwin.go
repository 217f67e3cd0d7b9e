//go:build darwin

package bootclock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now returns the time since boot: on this system CLOCK_MONOTONIC goes on
// during sleep. It is safe for concurrent use.
func Now() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic("bootclock: the kernel has no CLOCK_MONOTONIC: " + err.Error())
	}
	return time.Duration(ts.Nano())
}
