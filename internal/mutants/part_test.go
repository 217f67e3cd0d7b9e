package mutants

import (
	"fmt"
	"slices"
	"testing"
)

// TestPartsLeaveSomethingOut: all parts together are the whole, each once, and in order.
func TestPartsLeaveSomethingOut(t *testing.T) {
	all := make([]Mutant, 10)
	for i := range all {
		all[i].Name = fmt.Sprint(i)
	}
	names := func(ms []Mutant) (names []string) {
		for _, m := range ms {
			names = append(names, m.Name)
		}
		return names
	}
	for parts := 1; parts <= 12; parts++ {
		var got []string
		for k := range parts {
			var p part
			if err := p.Set(fmt.Sprintf("%d/%d", k+1, parts)); err != nil {
				t.Fatal(err)
			}
			got = append(got, names(p.cut(all))...)
		}
		if !slices.Equal(got, names(all)) {
			t.Errorf("%d parts are %v", parts, got)
		}
	}
	if whole := (&part{}).cut(all); len(whole) != len(all) {
		t.Errorf("without a part %d of %d", len(whole), len(all))
	}
	for _, wrong := range []string{"", "3", "0/4", "5/4", "-1/4", "1/0", "1/2/3", "a/b"} {
		if err := new(part).Set(wrong); err == nil {
			t.Errorf("%q is a part", wrong)
		}
	}
}
