package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// survey is the runs that broke a rule, by their seeds.
type survey map[string][]Seed

// add counts a run under every rule that it broke.
func (s survey) add(seed Seed, r *Report) {
	for _, f := range r.Findings() {
		if seeds := s[f.Rule]; len(seeds) == 0 || seeds[len(seeds)-1] != seed {
			s[f.Rule] = append(seeds, seed)
		}
	}
}

// reportTo fails the test with what was found.
func (s survey) reportTo(t *testing.T) {
	var b strings.Builder
	for _, rule := range slices.Sorted(maps.Keys(s)) {
		seeds := s[rule]
		slices.Sort(seeds)
		fmt.Fprintf(&b, "%6d runs: %s, seeds %v\n", len(seeds), rule, seeds[:min(len(seeds), 5)])
	}
	if len(s) > 0 {
		t.Errorf("broken were:\n%s", b.String())
	}
}
