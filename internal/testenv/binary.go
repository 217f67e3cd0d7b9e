package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// program is a server binary, by the names it may have.
type program struct {
	names []string
	// install says how to get it, in words that end a sentence.
	install string
}

// redisServer is also the Sentinel: the same binary started with --sentinel.
func redisServer() program {
	return program{
		names:   []string{"redis-server", "valkey-server"},
		install: "package redis-server; run: make servers",
	}
}

// find returns the program's path. It ends the test when there is none.
func (p program) find(t Owner) string {
	t.Helper()
	for _, name := range p.names {
		if path := builtHere(name); path != "" {
			return path
		}
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	p.missing(t)
	return ""
}

// builtHere returns the path of a program that was built into the bin folder of the module that is being tested, or of
// one around it; empty if there is none. It is asked first, for it is of the version that the module names.
func builtHere(name string) string {
	dir, err := os.Getwd()
	for err == nil {
		if _, none := os.Stat(filepath.Join(dir, "go.mod")); none == nil {
			if path, none := exec.LookPath(filepath.Join(dir, "bin", name)); none == nil {
				return path
			}
		}
		above := filepath.Dir(dir)
		if above == dir {
			break
		}
		dir = above
	}
	return ""
}

// missing fails the test where nothing may be skipped, and skips it elsewhere.
func (p program) missing(t Owner) {
	t.Helper()
	reason := fmt.Sprintf("%s not found (%s)", p.names[0], p.install)
	if os.Getenv("CI") != "" {
		t.Fatal(reason)
	}
	recordSkip(t, reason)
	t.Skip(reason)
}

// recordSkip notes the skipped test for the summary printed by make test,
// because go test itself is silent about skipped tests.
func recordSkip(t Owner, reason string) {
	t.Helper()
	path := os.Getenv("BEDROCK_SKIPPED")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatalf("record skipped test: %v", err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "%s: %s\n", t.Name(), reason); err != nil {
		t.Fatalf("record skipped test: %v", err)
	}
}

// Program returns the path of a program that a test drives. When it is missing
// the test is skipped, or fails where nothing may be skipped; install says how to
// get it.
func Program(t Owner, name, install string) string {
	t.Helper()
	return program{names: []string{name}, install: install + "; run: make servers"}.find(t)
}
