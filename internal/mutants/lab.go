package mutants

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
	"sync"
	"time"
)

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
func (l *lab) healthy(ctx context.Context, chosen []Mutant) error {
	// Of equal depth: the part of a pattern for subtests would select among those of
	// a test that is meant whole.
	type group struct {
		pkg   string
		depth int
	}
	tests := make(map[group][]string)
	for _, m := range chosen {
		g := group{m.Pkg, strings.Count(m.Test, "/")}
		tests[g] = append(tests[g], m.Test)
	}
	for g, names := range tests {
		if out, err := l.goTest(ctx, g.pkg, anyOf(names), ""); err != nil {
			return fmt.Errorf("the tests of %s fail without any mutant: %w\n%s", g.pkg, err, out)
		}
	}
	return nil
}

// tryAll tries the mutants, a few side by side.
func (l *lab) tryAll(ctx context.Context, all []Mutant, side int) []verdict {
	var group sync.WaitGroup
	verdicts := make([]verdict, len(all))
	slots := make(chan struct{}, side)
	for i := range all {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			verdicts[i] = l.try(ctx, &all[i], i)
		})
	}
	group.Wait()
	return verdicts
}

// try runs the test of a mutant against it.
func (l *lab) try(ctx context.Context, m *Mutant, number int) verdict {
	start := time.Now()
	overlay, err := l.overlay(m, number)
	if err != nil {
		return verdict{word: broken, output: err.Error()}
	}
	out, err := l.goTest(ctx, m.Pkg, anyOf([]string{m.Test}), overlay)
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
func (l *lab) overlay(m *Mutant, number int) (string, error) {
	path := filepath.Join(l.root, m.File)
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.Old); n != 1 {
		return "", fmt.Errorf("%s: the text to replace occurs %d times, want once:\n%s", m.File, n, m.Old)
	}
	base := filepath.Join(l.dir, fmt.Sprint(number))
	mutated := base + filepath.Ext(m.File)
	if err := os.WriteFile(mutated, []byte(strings.Replace(string(text), m.Old, m.New, 1)), 0o600); err != nil {
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
	args := []string{"test", "-count=1", "-timeout=60s", "-vet=off", "-run", pattern}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
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
