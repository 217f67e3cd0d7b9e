package locks

import (
	"context"
	"errors"
	"testing"
)

// TestRoomKnowsWhoMayBeInside at the same time.
func TestRoomKnowsWhoMayBeInside(t *testing.T) {
	const alone, shared = true, false
	for name, c := range map[string]struct {
		permits int
		inside  []bool
		comes   bool
		allowed bool
	}{
		"nobody is there":           {comes: alone, allowed: true},
		"one alone, another one":    {inside: []bool{alone}, comes: alone},
		"a reader, a writer":        {inside: []bool{shared}, comes: alone},
		"a writer, a reader":        {inside: []bool{alone}, comes: shared},
		"readers, another one":      {inside: []bool{shared, shared}, comes: shared, allowed: true},
		"the last of the permits":   {permits: 2, inside: []bool{shared}, comes: shared, allowed: true},
		"one more than the permits": {permits: 2, inside: []bool{shared, shared}, comes: shared},
	} {
		r := newRoom(c.permits)
		for _, alone := range c.inside {
			r.comeIn(alone)
		}
		if got := r.comeIn(c.comes); got != c.allowed {
			t.Errorf("%s: allowed %v, want %v", name, got, c.allowed)
		}
		r.goOut(c.comes)
		for _, alone := range c.inside {
			r.goOut(alone)
		}
		if !r.comeIn(alone) {
			t.Errorf("%s: not empty when all had gone", name)
		}
	}
}

// TestWorkersHaveOneRoom where the measurement is strict, and nothing is measured where it was not respected.
func TestWorkersHaveOneRoom(t *testing.T) {
	allowed := false
	measure := strictly(func(_ context.Context, m measurement) (Sample, error) {
		one, err := m.job.openRoom()
		if err != nil {
			return nil, err
		}
		other, err := m.job.openRoom()
		if err != nil {
			return nil, err
		}
		one.comeIn(false)
		allowed = other.comeIn(true)
		return Sample{Value: 1, Violations: 1}, nil
	})
	if _, err := measure(t.Context(), measurement{}); !errors.Is(err, errInside) {
		t.Errorf("two who should not have been inside: %v, want %v", err, errInside)
	}
	if allowed {
		t.Error("the one did not see the other")
	}
}
