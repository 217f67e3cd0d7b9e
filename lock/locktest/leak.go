package locktest

import (
	"context"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

// behaviourLabel marks the goroutines a behaviour starts: they inherit it, so
// that behaviours can run side by side and each be asked for its own.
const behaviourLabel = "locktest-behaviour"

// watchGoroutines runs a behaviour, and fails the test if goroutines started by
// it are still there when everything has been closed.
func watchGoroutines(t *testing.T, run func()) {
	t.Helper()
	t.Cleanup(func() { // registered first, so it runs last
		pause := 5 * time.Millisecond // which grows: looking at all goroutines stops the others
		for end := time.Now().Add(cleanUp); len(labelled(t.Name())) > 0; pause += pause / 2 {
			if time.Now().After(end) {
				t.Errorf("goroutines left behind:\n%s", strings.Join(labelled(t.Name()), "\n"))
				return
			}
			time.Sleep(min(pause, 100*time.Millisecond))
		}
	})
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels(behaviourLabel, t.Name())))
	defer pprof.SetGoroutineLabels(context.Background())
	run()
}

// labelled returns the stacks of a behaviour's goroutines.
func labelled(name string) (stacks []string) {
	var text strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&text, 1); err != nil {
		return nil // a strings.Builder takes everything
	}
	for stack := range strings.SplitSeq(text.String(), "\n\n") {
		if strings.Contains(stack, behaviourLabel) && strings.Contains(stack, `"`+name+`"`) {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}
