package sim

import (
	"fmt"
	"os"
	"runtime"
	"time"
)

// watchStalls ends the program when a run takes too long in real time: a loop turns while
// virtual time stands still, or somebody sleeps with a mutex in hand. Neither can be
// ended from outside.
func (h *hunt) watchStalls() (stop func()) {
	h.running = make(map[Seed]time.Time)
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				h.checkStalls()
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

func (h *hunt) checkStalls() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for seed, since := range h.running {
		if time.Since(since) > h.settings.stall {
			h.stalled(seed)
		}
	}
}

func (h *hunt) stalled(seed Seed) {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	fmt.Fprintf(os.Stderr,
		"--- FAIL: %s\nseed %d: time stands still: a loop turns without a pause, or a mutex is held in sleep\n"+
			"repeat it: go test ./internal/sim/%s -run Sim -seed %d\n\n%s\n",
		h.t.Name(), seed, h.scenario.Name, seed, stacks)
	os.Exit(1)
}
