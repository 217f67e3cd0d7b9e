package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/bedrock-go/bedrock/bench/internal/redisd"
)

// writeCircumstances says what the figures below it were measured with; it
// fails when there is no server to measure on.
func writeCircumstances(ctx context.Context, w io.Writer, addr string) error {
	monitor, err := redisd.Watch(ctx, addr)
	if err != nil {
		return fmt.Errorf("reach redis at %s: %w", addr, err)
	}
	defer monitor.Close()
	version, err := monitor.Version(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "Redis %s, %s %s/%s, %d processors; %s\n", version, runtime.Version(),
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), strings.Join(modules("redis", "redsync"), ", "))
	return err
}

// writeMachine says what the figures below it were measured on, and with which of the
// libraries whose names have one of these words in them.
func writeMachine(w io.Writer, libraries ...string) error {
	_, err := fmt.Fprintf(w, "%s %s/%s, %d processors; %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), strings.Join(modules(libraries...), ", "))
	return err
}

// modules returns the versions of those libraries in this program whose names have
// one of these words in them.
func modules(words ...string) []string {
	info, found := debug.ReadBuildInfo()
	if !found {
		return nil
	}
	var list []string
	for _, m := range info.Deps {
		if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(m.Path, word) }) {
			list = append(list, strings.TrimPrefix(m.Path, "github.com/")+" "+m.Version)
		}
	}
	return list
}
