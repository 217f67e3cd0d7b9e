package sim

import (
	"strings"
	"testing"
)

// Repeats checks that runs repeat exactly: what a seed does once it does again. The first
// seed is the flags'.
func Repeats(t *testing.T, s Scenario, seeds int) {
	flags, err := readFlags()
	if err != nil {
		t.Fatal(err)
	}
	for i := range seeds {
		seed := Seed(flags.from + uint64(i))
		first := runPlan(t, s.Plan(seed), everyPart, true)
		second := runPlan(t, s.Plan(seed), everyPart, true)
		if first.Hash() != second.Hash() {
			t.Errorf("seed %d went another way:\n%s", seed, difference(first.Story(), second.Story()))
		}
	}
}

// difference shows where two stories part.
func difference(a, b string) string {
	first, second := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(first), len(second)) {
		if first[i] != second[i] {
			return strings.Join(first[max(0, i-10):i], "\n") + "\n- " + first[i] + "\n+ " + second[i]
		}
	}
	return "one is longer"
}
