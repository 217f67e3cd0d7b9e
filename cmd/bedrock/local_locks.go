package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// localLocks is the URL of where locks are when nobody says anything: a file of this user, on this machine. It is empty
// where there is no place for such a file.
func (s *system) localLocks() (string, error) {
	folder := s.stateFolder()
	if folder == "" {
		return "", nil
	}
	path := filepath.Join(folder, "bedrock", "locks.db")
	if _, err := os.Stat(path); err == nil {
		return "sqlite:" + path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("make the folder of the locks of this machine: %w; or give --backend", err)
	}
	fmt.Fprintf(s.stderr, "bedrock: note: locks are in %s, for what this user runs on this machine; "+
		"--backend and --server have them elsewhere\n", path)
	return "sqlite:" + path, nil
}

// whyNoPlace says why there is none for locks of this machine.
func whyNoPlace() string {
	if runtime.GOOS == "windows" {
		return "LocalAppData names no folder for it"
	}
	return "neither HOME nor XDG_STATE_HOME names a folder for it"
}

// stateFolder is where programs of this user keep what is to last.
func (s *system) stateFolder() string {
	if folder := s.getenv("XDG_STATE_HOME"); filepath.IsAbs(folder) {
		return folder
	}
	home := s.getenv("HOME")
	switch {
	case runtime.GOOS == "windows":
		return s.getenv("LocalAppData")
	case !filepath.IsAbs(home):
		return ""
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Application Support")
	default:
		return filepath.Join(home, ".local", "state")
	}
}
