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

// runTorture lets a program with the fault in it look for it. What it finds counts if the
// program as it is finds nothing.
func (l *lab) runTorture(ctx context.Context, m *Mutant, overlay string, number int) verdict {
	start, name := time.Now(), fmt.Sprint(number)
	out, found, err := l.torture(ctx, m.Torture, overlay, name)
	v := verdict{word: missed, output: out, took: time.Since(start)}
	if err != nil {
		v.word, v.output = broken, err.Error()+"\n"+out
		return v
	}
	if !found {
		return v
	}
	v.word = caught
	switch out, found, err := l.torture(ctx, m.Torture, "", name+"-as-it-is"); {
	case err != nil:
		v.word, v.output = broken, "without any mutant: "+err.Error()+"\n"+out
	case found:
		v.word, v.output = broken, "it finds something without any mutant, too:\n"+out
	}
	return v
}

// torture builds bedrock, runs it, and reports whether it found a promise broken.
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
	cmd.Dir, cmd.Env = l.root, l.environment()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}
