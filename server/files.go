package server

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

// Files are what a server reads again when they change: its tokens and certificates. A
// file that cannot be used any more changes nothing, so that a slip of the pen locks
// nobody out; but a token that was to be taken out is then still good, so it is told at
// once: in the log, in Problems, and at /healthz.
//
// The zero value is ready to use.
type Files struct {
	// Logger is told when a file can no longer be used, and when it can again. Default:
	// [slog.Default].
	Logger *slog.Logger

	mu      sync.Mutex
	watched []func() error
}

// Problems looks at all files and tells what cannot be used as it stands.
func (f *Files) Problems() []error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	watched := f.watched
	f.mu.Unlock()
	var found []error
	for _, look := range watched {
		if err := look(); err != nil {
			found = append(found, err)
		}
	}
	return found
}

func (f *Files) watch(look func() error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watched = append(f.watched, look)
}

const (
	lookAgain = time.Second // how long changes of a file may go unnoticed
	tellAgain = time.Minute // how often it is told that one cannot be used
)

// reloaded is what files hold, kept up to date.
type reloaded[T any] struct {
	read  func() (T, error)
	paths []string
	log   *slog.Logger

	value   atomic.Pointer[T]
	checked atomic.Int64 // when the files were looked at, Unix ns
	mu      sync.Mutex
	stamp   string
	problem error
	told    time.Time
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
	f.watch(r.look)
	return r, nil
}

// current returns the value, and never waits for somebody else who looks.
func (r *reloaded[T]) current() T {
	if r.stale() && r.mu.TryLock() {
		r.refresh()
		r.mu.Unlock()
	}
	return *r.value.Load()
}

// look tells why the files cannot be used as they stand; nil if they can.
func (r *reloaded[T]) look() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refresh()
	return r.problem
}

// stale tells whether it is time to look again; and it is when the clock was set back.
func (r *reloaded[T]) stale() bool {
	passed := time.Duration(time.Now().UnixNano() - r.checked.Load())
	return passed > lookAgain || passed < 0
}

// refresh reads the files if they have changed, or could not be used. r.mu is held.
func (r *reloaded[T]) refresh() {
	if !r.stale() {
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
	r.tell(err)
}

// tell logs that files cannot be used, once a minute while it lasts, and its end. r.mu
// is held.
func (r *reloaded[T]) tell(problem error) {
	was := r.problem
	r.problem = problem
	switch {
	case problem == nil && was != nil:
		r.log.Info("server: file can be used again", "files", r.paths)
	case problem != nil && (was == nil || time.Since(r.told) >= tellAgain):
		r.told = time.Now()
		r.log.LogAttrs(context.Background(), slog.LevelError, "server: changed file cannot be used, what it held before stays in force",
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
