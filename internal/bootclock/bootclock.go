// Package bootclock tells the time since the machine was started, suspend
// included. Go's own monotonic clock stands still while the machine sleeps, so
// a lease that ended meanwhile would look alive.
package bootclock
