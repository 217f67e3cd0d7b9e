package sim

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Hunt runs a scenario as often as the flags say, and fails the test with the
// shortest story it can find of the first run that breaks a rule.
func Hunt(t *testing.T, s Scenario) {
	flags, err := readFlags()
	if err != nil {
		t.Fatal(err)
	}
	h := &hunt{t: t, scenario: s, settings: flags, broken: make(survey)}
	stop := h.watchStalls()
	defer stop()
	if flags.seed != 0 {
		h.reportRun(Seed(flags.seed), flags.parts)
		return
	}
	start := time.Now()
	h.search()
	took := time.Since(start)
	t.Logf("%s: %d runs from seed %d in %s, %.0f/s", s.Name, h.done.Load(), flags.from,
		took.Round(time.Millisecond), float64(h.done.Load())/took.Seconds())
	switch {
	case flags.survey:
		h.broken.reportTo(t)
	case h.failed != 0:
		h.reportSeed(h.failed)
	}
}

type hunt struct {
	t        *testing.T
	scenario Scenario
	settings settings

	next atomic.Int64 // number of the next run
	done atomic.Int64

	mu      sync.Mutex
	failed  Seed
	broken  survey
	running map[Seed]time.Time
}

// search runs seed after seed on all processors, until one fails.
func (h *hunt) search() {
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for {
				n := h.next.Add(1) - 1
				if n >= int64(h.settings.runs) || h.found() {
					return
				}
				h.runSeed(Seed(h.settings.from + uint64(n)))
			}
		})
	}
	workers.Wait()
}

func (h *hunt) found() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failed != 0 && !h.settings.survey
}

func (h *hunt) runSeed(seed Seed) {
	r := h.runWatched(seed, h.scenario.Plan(seed), everyPart, false)
	h.done.Add(1)
	if len(r.Findings()) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.broken.add(seed, r)
	if h.failed == 0 || seed < h.failed {
		h.failed = seed
	}
}

// runWatched runs a plan under the eyes of the watch.
func (h *hunt) runWatched(seed Seed, p Plan, with func(int) bool, tracing bool) *Report {
	h.mu.Lock()
	h.running[seed] = time.Now()
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.running, seed)
		h.mu.Unlock()
	}()
	r := runPlan(h.t, p, with, tracing)
	r.findings = slices.DeleteFunc(r.findings,
		func(f Finding) bool { return !strings.Contains(f.Rule, h.settings.rule) })
	return r
}

// reportSeed tells the shortest failing run of a seed. One that does not fail whenever it is
// repeated has failed all the same.
func (h *hunt) reportSeed(seed Seed) {
	p := h.scenario.Plan(seed)
	r := h.runWatched(seed, p, everyPart, false)
	if len(r.Findings()) > 0 && h.reportRun(seed, shrink(h.t, p, r.Findings()[0].Rule, h.settings.shrink)) {
		return
	}
	h.t.Errorf("seed %d failed once and does not again: a run is not repeated exactly", seed)
}

// reportRun repeats a run, shows what happened, and reports whether it has failed.
func (h *hunt) reportRun(seed Seed, parts []int) bool {
	p, with := h.scenario.Plan(seed), everyPart
	if parts != nil {
		with = only(parts)
	}
	r := h.runWatched(seed, p, with, true)
	var b strings.Builder
	for i := range p.Parts() {
		if with(i) {
			fmt.Fprintf(&b, "%5d  %s\n", i, p.Part(i))
		}
	}
	h.t.Logf("the plan of seed %d:\n%v\n%s\nwhat happened:\n%s", seed, p, b.String(), r.Story())
	for _, f := range r.Findings() {
		h.t.Errorf("seed %d: %s", seed, f)
	}
	broken := len(r.Findings()) > 0
	if broken {
		h.t.Logf("repeat it: go test ./internal/sim/%s -run Sim -seed %d -parts %s",
			h.scenario.Name, seed, writeParts(parts))
	}
	return broken
}
