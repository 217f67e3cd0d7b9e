package sim

import (
	"slices"
	"testing"
	"time"
)

// shrink looks for a small part of a plan that breaks the same rule: it leaves out
// halves, then quarters, and so on to single parts, as long as there is time.
func shrink(t *testing.T, p Plan, rule string, limit time.Duration) []int {
	kept := make([]int, p.Parts())
	for i := range kept {
		kept[i] = i
	}
	end := time.Now().Add(limit)
	for size := (len(kept) + 1) / 2; size > 0; {
		smaller := false
		for from := 0; from < len(kept) && time.Now().Before(end); {
			without := slices.Delete(slices.Clone(kept), from, min(from+size, len(kept)))
			if breaks(t, p, without, rule) {
				kept, smaller = without, true
				continue
			}
			from += size
		}
		if !smaller || size > 1 {
			size /= 2
		}
	}
	return kept
}

func breaks(t *testing.T, p Plan, parts []int, rule string) bool {
	r := runPlan(t, p, only(parts), false)
	return slices.ContainsFunc(r.Findings(), func(f Finding) bool { return f.Rule == rule })
}

// only keeps these parts.
func only(parts []int) func(int) bool {
	return func(i int) bool { return slices.Contains(parts, i) }
}
