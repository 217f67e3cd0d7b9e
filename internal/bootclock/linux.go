//go:build linux

package bootclock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now returns the time since boot. It is safe for concurrent use.
func Now() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic("bootclock: the kernel has no CLOCK_BOOTTIME: " + err.Error())
	}
	return time.Duration(ts.Nano())
}
