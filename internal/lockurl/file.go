package lockurl

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/bedrock-go/bedrock/lock"
	"github.com/bedrock-go/bedrock/lock/driver"
	"github.com/bedrock-go/bedrock/lock/sqllock/sqlite"
)

// file is a place in a file of SQLite.
type file struct{ path string }

func parseFile(rest string) (*Location, error) {
	path := strings.TrimPrefix(rest, "//")
	switch {
	case path == "":
		return nil, &Error{Part: "path", Problem: "is missing: sqlite:PATH"}
	case strings.ContainsAny(path, "?#"):
		return nil, &Error{Part: "path", Problem: "has a ? or #; there are no options"}
	}
	return &Location{place: &file{path}}, nil
}

// String implements place.
func (f *file) String() string { return "sqlite:" + f.path }

// TLS implements place.
func (f *file) TLS() bool { return false }

func (f *file) readFiles() error { return nil }

func (f *file) connect(opts lock.Options, by use) (driver.Backend, func() error, error) {
	backend, err := sqlite.OpenBackend(f.path, &sqlite.Options{Lock: opts, ForOthers: by == forOthers})
	return backend, func() error { return nil }, err
}

// makeTables implements tabular: whoever opens the file makes what it lacks.
func (f *file) makeTables(context.Context) error {
	backend, err := sqlite.OpenBackend(f.path, nil)
	if err != nil {
		return err
	}
	return backend.Close()
}

// meets implements place.
func (f *file) meets(other place) string {
	o, ok := other.(*file)
	if !ok || f.whole() != o.whole() {
		return ""
	}
	return f.path
}

// whole is the path as it is the same for all who name the file.
func (f *file) whole() string {
	if path, err := filepath.EvalSymlinks(f.path); err == nil {
		if whole, err := filepath.Abs(path); err == nil {
			return whole
		}
	}
	return filepath.Clean(f.path)
}
