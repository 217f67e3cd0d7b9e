//go:build unix && !linux

package child

import "syscall"

// others are those in a group whose first has ended. No other group has its id while
// there are any.
type others struct{ group int }

// areLeft reports whether there are any who can be told to end.
func (o *others) areLeft() bool { return syscall.Kill(-o.group, 0) == nil }
