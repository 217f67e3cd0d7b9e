package server

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// lookAgain is how long changes of a file may go unnoticed.
const lookAgain = time.Second

// reloaded is what files hold, kept up to date.
type reloaded[T any] struct {
	read  func() (T, error)
	paths []string

	value   atomic.Pointer[T]
	checked atomic.Int64 // when the files were looked at, Unix ns
	mu      sync.Mutex
	stamp   string
}

// reloading returns a function that gives what read makes of files, and reads them
// again when they have changed. If that fails, what was read before stays.
func reloading[T any](read func() (T, error), paths ...string) (current func() T, err error) {
	r := &reloaded[T]{read: read, paths: paths, stamp: stamp(paths)}
	v, err := read()
	if err != nil {
		return nil, err
	}
	r.value.Store(&v)
	r.checked.Store(time.Now().UnixNano())
	return r.current, nil
}

func (r *reloaded[T]) current() T {
	now := time.Now().UnixNano()
	if now-r.checked.Load() > int64(lookAgain) && r.mu.TryLock() {
		r.refresh()
		r.checked.Store(now)
		r.mu.Unlock()
	}
	return *r.value.Load()
}

// refresh reads the files if they have changed. r.mu is held.
func (r *reloaded[T]) refresh() {
	seen := stamp(r.paths)
	if seen == r.stamp {
		return
	}
	if v, err := r.read(); err == nil {
		r.value.Store(&v)
		r.stamp = seen
	}
}

// stamp changes when the files do.
func stamp(paths []string) string {
	var s strings.Builder
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintln(&s, info.Size(), info.ModTime().UnixNano())
		}
	}
	return s.String()
}
