package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// mutant is a deliberate fault and the test that must catch it.
type mutant struct {
	name string // says what is wrong
	file string // from the root of the module
	old  string // occurs in it exactly once
	new  string
	pkg  string // of the test, from the root of the module
	test string
}

// The verdicts.
const (
	caught = "caught"
	missed = "MISSED"
	broken = "BROKEN" // does not fit the code, or does not compile
)

// verdict is what became of a mutant.
type verdict struct {
	word   string
	output string
	took   time.Duration
}

// lab is where mutants are made.
type lab struct {
	root string // of the module
	dir  string // temporary
}

func newLab(ctx context.Context) (*lab, error) {
	mod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return nil, fmt.Errorf("find the module: %w", err)
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return nil, err
	}
	return &lab{root: filepath.Dir(strings.TrimSpace(string(mod))), dir: dir}, nil
}

func (l *lab) close() { _ = os.RemoveAll(l.dir) }

// healthy checks that the tests pass on the code as it is: a test that fails
// anyway catches nothing.
func (l *lab) healthy(ctx context.Context, chosen []mutant) error {
	tests := make(map[string][]string) // by package
	for _, m := range chosen {
		tests[m.pkg] = append(tests[m.pkg], m.test)
	}
	for pkg, names := range tests {
		if out, err := l.goTest(ctx, pkg, anyOf(names), ""); err != nil {
			return fmt.Errorf("the tests of %s fail without any mutant: %w\n%s", pkg, err, out)
		}
	}
	return nil
}

// try runs the test of a mutant against it.
func (l *lab) try(ctx context.Context, m *mutant, number int) verdict {
	start := time.Now()
	overlay, err := l.overlay(m, number)
	if err != nil {
		return verdict{word: broken, output: err.Error()}
	}
	out, err := l.goTest(ctx, m.pkg, anyOf([]string{m.test}), overlay)
	v := verdict{word: missed, output: out, took: time.Since(start)}
	switch {
	case strings.Contains(out, "[build failed]"), strings.Contains(out, "[setup failed]"):
		v.word = broken
	case strings.Contains(out, "no tests to run"):
		v.word = broken
	case err != nil && ctx.Err() == nil:
		v.word = caught
	}
	return v
}

// overlay writes the mutated file, and the file that tells go of it.
func (l *lab) overlay(m *mutant, number int) (string, error) {
	path := filepath.Join(l.root, m.file)
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.old); n != 1 {
		return "", fmt.Errorf("%s: the text to replace occurs %d times, want once:\n%s", m.file, n, m.old)
	}
	base := filepath.Join(l.dir, fmt.Sprint(number))
	mutated := base + filepath.Ext(m.file)
	if err := os.WriteFile(mutated, []byte(strings.Replace(string(text), m.old, m.new, 1)), 0o600); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutated}})
	if err != nil {
		return "", err
	}
	return base + ".json", os.WriteFile(base+".json", list, 0o600)
}

// goTest runs tests of a package. Under a mutant they may hang: their time is
// short.
func (l *lab) goTest(ctx context.Context, pkg, pattern, overlay string) (string, error) {
	args := []string{"test", "-count=1", "-timeout=60s", "-run", pattern}
	if overlay != "" {
		args = append(args, "-overlay", overlay, "-vet=off")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+pkg)...)
	cmd.Dir = l.root
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		return out.String(), fmt.Errorf("run go test: %w", err)
	}
	return out.String(), err
}

// anyOf makes a pattern for -run of the names of tests of equal depth.
func anyOf(names []string) string {
	var levels [][]string
	for _, name := range names {
		for i, part := range strings.Split(name, "/") {
			if i == len(levels) {
				levels = append(levels, nil)
			}
			levels[i] = append(levels[i], part)
		}
	}
	patterns := make([]string, len(levels))
	for i, parts := range levels {
		patterns[i] = "^(" + strings.Join(parts, "|") + ")$"
	}
	return strings.Join(patterns, "/")
}
