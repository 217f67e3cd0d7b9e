//go:build !linux && !darwin

package bootclock

import "time"

// Now returns the wall clock's reading: it goes on during suspend, which
// matters more here than that a person may set it.
func Now() time.Duration {
	return time.Duration(time.Now().Round(0).UnixNano())
}
