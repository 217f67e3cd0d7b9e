package keeper

import (
	"strconv"
	"testing"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// TestStepsTakeEachOthersRows cuts grants into steps: those of a name are never in two that go on side by side.
func TestStepsTakeEachOthersRows(t *testing.T) {
	var grants []driver.Grant
	var all []int
	for n, times := range []int{1, 3, 1, 20, 7, 2, 1, 8, 9, 1, 1, 1} {
		for range times {
			all = append(all, len(grants))
			grants = append(grants, driver.Grant{Name: strconv.Itoa(n)})
		}
	}
	all[0], all[30] = all[30], all[0] // they come in any order
	chainOf := make(map[string]int)
	seen := make(map[int]bool)
	steps := 0
	for i, chain := range inFewSteps(byName(grants, all)) {
		for _, group := range chain {
			if steps++; len(group) == 0 || len(group) > mostRenewed {
				t.Errorf("a step has %d grants", len(group))
			}
			for _, at := range group {
				name := grants[at].Name
				if before, known := chainOf[name]; known && before != i || seen[at] {
					t.Errorf("grant %d of name %s is in two", at, name)
				}
				chainOf[name], seen[at] = i, true
			}
		}
	}
	if len(seen) != len(grants) || steps > 11 {
		t.Errorf("%d steps for %d of %d grants", steps, len(seen), len(grants))
	}
}
