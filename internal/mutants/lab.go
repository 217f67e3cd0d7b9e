package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	found  string // by a test that looks for faults
}

// lab is where mutants are made.
type lab struct {
	root string // of the module
	dir  string // temporary
}

// passable lets other users through, not in: PostgreSQL does not run as root, and has its data in
// a folder of its own inside.
const passable = 0o711

func newLab(ctx context.Context) (*lab, error) {
	root, err := moduleRoot(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, passable); err != nil {
		return nil, err
	}
	return &lab{root: root, dir: dir}, nil
}

// moduleRoot is the folder of the module that the program runs in.
func moduleRoot(ctx context.Context) (string, error) {
	mod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(mod))), nil
}

// environment is that of the programs started: what they leave behind when they are killed
// is in the lab's folder, and goes with it.
func (l *lab) environment() []string { return append(os.Environ(), "TMPDIR="+l.dir) }

func (l *lab) close() { _ = os.RemoveAll(l.dir) }

// group is tests of a package that one pattern selects. They are of equal depth: the part
// of a pattern for subtests would select among those of a test that is meant whole.
type group struct {
	pkg   string
	depth int
}

// healthy checks that the tests pass on the code as it is: a test that fails
// anyway catches nothing.
func (l *lab) healthy(ctx context.Context, chosen []Mutant, side int) error {
	tests := make(map[group][]string)
	for _, m := range chosen {
		if m.hunted() {
			continue
		}
		g := group{m.Pkg, strings.Count(m.Test, "/")}
		tests[g] = append(tests[g], m.Test)
	}
	groups := slices.Collect(maps.Keys(tests))
	failures := make([]error, len(groups))
	sideBySide(len(groups), side, func(i int) {
		g := groups[i]
		if out, err := l.goTest(ctx, g.pkg, anyOf(tests[g]), ""); err != nil {
			failures[i] = fmt.Errorf("the tests of %s fail without any mutant: %w\n%s", g.pkg, err, out)
		}
	})
	return errors.Join(failures...)
}

// tryAll tries the mutants, a few side by side.
func (l *lab) tryAll(ctx context.Context, all []Mutant, side int) []verdict {
	verdicts := make([]verdict, len(all))
	sideBySide(len(all), side, func(i int) { verdicts[i] = l.runMutant(ctx, &all[i], i) })
	return verdicts
}

// sideBySide does the first n things, in order, but so many at once.
func sideBySide(n, side int, do func(i int)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, side)
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	all.Wait()
}

// runMutant runs the test of a mutant against it.
func (l *lab) runMutant(ctx context.Context, m *Mutant, number int) verdict {
	start := time.Now()
	overlay, err := l.overlay(m, number)
	if err != nil {
		return verdict{word: broken, output: err.Error()}
	}
	switch {
	case len(m.Torture) > 0:
		return l.runTorture(ctx, m, overlay, number)
	case len(m.Hunt) > 0:
		return l.runHunt(ctx, m, overlay)
	}
	out, err := l.goTest(ctx, m.Pkg, anyOf([]string{m.Test}), overlay)
	return verdictOf(ctx, out, err, time.Since(start))
}

// verdictOf tells what a test that has run under a mutant says of it.
func verdictOf(ctx context.Context, out string, err error, took time.Duration) verdict {
	v := verdict{word: missed, output: out, took: took}
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

// overlay writes the mutated files, and the file that tells go of them.
func (l *lab) overlay(m *Mutant, number int) (string, error) {
	texts, err := m.mutate(l.root)
	if err != nil {
		return "", err
	}
	base := filepath.Join(l.dir, fmt.Sprint(number))
	replace := make(map[string]string)
	for path, text := range texts {
		mutated := fmt.Sprintf("%s-%d%s", base, len(replace), filepath.Ext(path))
		if err := os.WriteFile(mutated, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[path] = mutated
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return "", err
	}
	return base + ".json", os.WriteFile(base+".json", list, 0o600)
}

// goTest runs tests of a package, with flags of their own. Under a mutant they may hang:
// their time is short, unless they are looking for faults.
func (l *lab) goTest(ctx context.Context, pkg, pattern, overlay string, own ...string) (string, error) {
	limit := time.Minute
	if len(own) > 0 {
		limit = longestHunt
	}
	args := []string{"test", "-count=1", "-timeout", limit.String(), "-vet=off", "-run", pattern}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(append(args, "./"+pkg), own...)...)
	cmd.Dir, cmd.Env = l.root, l.environment()
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
