package mutants

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

// The exit codes of torture when a promise was not kept, and when too little was done to
// say so.
const (
	promiseBroken = 1
	inconclusive  = 6
)

// tryTorture runs a program with the fault in it.
func (l *lab) tryTorture(ctx context.Context, m *Mutant, overlay string, number int) verdict {
	start := time.Now()
	out, found, err := l.torture(ctx, m.Torture, overlay, fmt.Sprint(number))
	v := verdict{word: missed, output: out, took: time.Since(start)}
	switch {
	case err != nil:
		v.word, v.output = broken, err.Error()+"\n"+out
	case found:
		v.word = caught
	}
	return v
}

// torture builds bedrock, runs it, and tells whether it found a promise broken.
func (l *lab) torture(ctx context.Context, args []string, overlay, name string) (out string, found bool, err error) {
	program := filepath.Join(l.dir, "bedrock-"+name)
	build := []string{"build", "-o", program}
	if overlay != "" {
		build = append(build, "-overlay", overlay)
	}
	if out, err := l.run(ctx, "go", append(build, "./cmd/bedrock")...); err != nil {
		return out, false, fmt.Errorf("build: %w", err)
	}
	out, err = l.run(ctx, program, args...)
	failed, ok := errors.AsType[*exec.ExitError](err)
	if !ok || ctx.Err() != nil {
		return out, false, err
	}
	switch failed.ExitCode() {
	case promiseBroken:
		return out, true, nil
	case inconclusive:
		return out, false, nil
	default:
		return out, false, err
	}
}

func (l *lab) run(ctx context.Context, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = l.root
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}
