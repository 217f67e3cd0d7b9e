package lock

import (
	"slices"
	"testing"
)

// TestSeveralOfACircleGiveUp: all of it find the same order, in which one goes soon, and each of the others only if the
// one before has not gone.
func TestSeveralOfACircleGiveUp(t *testing.T) {
	t.Parallel()
	all := []string{"#b", "#d", "#a", "#c"}
	looks := make([]int, 0, len(all))
	for _, me := range all {
		var others []Wait
		for _, owner := range all {
			if owner != me {
				others = append(others, Wait{Holder: Holder{Owner: owner}})
			}
		}
		looks = append(looks, looksBefore(others, me))
	}
	slices.Sort(looks)
	if looks[0] < 2 {
		t.Errorf("one gives up after %d look", looks[0])
	}
	for i, n := range looks[1:] {
		if n < looks[i]+cycleNext { // the one before has its time to go, and the look at what is left
			t.Errorf("they give up after %v looks", looks)
		}
	}
}
