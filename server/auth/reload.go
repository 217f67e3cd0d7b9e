package auth

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	checkEvery    = time.Second // how long changes of a file may go unnoticed
	complainEvery = time.Minute // how often the log says that one cannot be used
)

// reloaded is what files hold, kept up to date.
type reloaded[T any] struct {
	read  func() (T, error)
	paths []string
	log   *slog.Logger

	value    atomic.Pointer[T]
	checked  atomic.Int64 // when the files were looked at, Unix ns
	mu       sync.Mutex
	stamp    string
	problem  error
	reported time.Time
}

// reloading makes a value of files, and makes it again when they have changed.
func reloading[T any](f *Files, read func() (T, error), paths ...string) (*reloaded[T], error) {
	r := &reloaded[T]{read: read, paths: paths, log: f.Logger, stamp: stamp(paths)}
	if r.log == nil {
		r.log = slog.Default()
	}
	v, err := read()
	if err != nil {
		return nil, err
	}
	r.value.Store(&v)
	r.checked.Store(time.Now().UnixNano())
	f.addCheck(r.check)
	return r, nil
}

// current returns the value, and never waits while another goroutine reads the files.
func (r *reloaded[T]) current() T {
	if r.isDue() && r.mu.TryLock() {
		r.refresh()
		r.mu.Unlock()
	}
	return *r.value.Load()
}

// check says why the files cannot be used as they stand; nil if they can.
func (r *reloaded[T]) check() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refresh()
	return r.problem
}

// isDue reports whether it is time to look at the files again, as it also is when the clock
// was set back.
func (r *reloaded[T]) isDue() bool {
	passed := time.Duration(time.Now().UnixNano() - r.checked.Load())
	return passed > checkEvery || passed < 0
}

// refresh reads the files if they have changed, or could not be used. r.mu is held.
func (r *reloaded[T]) refresh() {
	if !r.isDue() {
		return
	}
	defer func() { r.checked.Store(time.Now().UnixNano()) }()
	seen := stamp(r.paths)
	if seen == r.stamp && r.problem == nil {
		return
	}
	v, err := r.read()
	if err == nil {
		r.value.Store(&v)
		r.stamp = seen
	}
	r.logProblem(err)
}

// logProblem logs that files cannot be used, once a minute while it lasts, and its end. r.mu
// is held.
func (r *reloaded[T]) logProblem(problem error) {
	was := r.problem
	r.problem = problem
	switch {
	case problem == nil && was != nil:
		r.log.Info("auth: file can be used again", "files", r.paths)
	case problem != nil && (was == nil || time.Since(r.reported) >= complainEvery):
		r.reported = time.Now()
		r.log.LogAttrs(context.Background(), slog.LevelError,
			"auth: changed file cannot be used, what it held before stays in force",
			slog.Any("files", r.paths), slog.Any("err", problem))
	}
}

// stamp changes when the files do.
func stamp(paths []string) string {
	var s strings.Builder
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintln(&s, path, info.Size(), info.ModTime().UnixNano())
		}
	}
	return s.String()
}
