package child

import (
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
)

// Profile writes a CPU profile to path until the returned function is called. An
// empty path asks for none.
func Profile(path string) (end func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("write profile: %w", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, fmt.Errorf("write profile: %w", errors.Join(err, file.Close()))
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, nil
}
