package auth

import (
	"log/slog"
	"sync"
)

// Files are what a server reads again when they change: its tokens and certificates. A file
// that cannot be used any more changes nothing, so that a slip of the pen locks nobody out;
// but a token that was to be taken out is then still good, so the problem is reported at
// once: in the log, in Problems, and at /healthz.
//
// The zero value is ready to use.
type Files struct {
	// Logger is told when a file can no longer be used, and when it can again. Default:
	// [slog.Default].
	Logger *slog.Logger

	mu     sync.Mutex
	checks []func() error
}

// Problems looks at all files and says what cannot be used as it stands.
func (f *Files) Problems() []error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	checks := f.checks
	f.mu.Unlock()
	var found []error
	for _, check := range checks {
		if err := check(); err != nil {
			found = append(found, err)
		}
	}
	return found
}

func (f *Files) addCheck(check func() error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.checks = append(f.checks, check)
}
