package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
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
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), strings.Join(modules(), ", "))
	return err
}

// modules returns the versions of the libraries in this program.
func modules() []string {
	info, found := debug.ReadBuildInfo()
	if !found {
		return nil
	}
	var list []string
	for _, m := range info.Deps {
		if strings.Contains(m.Path, "redis") || strings.Contains(m.Path, "redsync") {
			list = append(list, strings.TrimPrefix(m.Path, "github.com/")+" "+m.Version)
		}
	}
	return list
}
