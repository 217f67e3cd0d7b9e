package locks

import (
	"context"
	"errors"
	"testing"

	"github.com/bedrock-go/bedrock/bench/internal/subject"
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

// noLocker makes mutexes that keep nobody apart.
type noLocker struct{}

func (noLocker) Mutex(string) subject.Mutex { return noMutex{} }

func (noLocker) Close() error { return nil }

type noMutex struct{}

func (noMutex) Lock(context.Context) error { return nil }

func (noMutex) Unlock(context.Context) error { return nil }

// TestBreachesAreFound of a lock that keeps nobody apart, though nobody is inside for long while it is measured.
func TestBreachesAreFound(t *testing.T) {
	for name, job := range map[string]Job{
		"a mutex": {Goroutines: 2}, "permits": {Goroutines: 3, Permits: 2},
		"enough permits": {Goroutines: 2, Permits: 2},
	} {
		found, err := storm{shared: true}.seekBreaches(job, noLocker{})
		if want := job.Goroutines > max(job.Permits, 1); err != nil || (found > 0) != want {
			t.Errorf("%s: %d breaches, %v; want some: %v", name, found, err, want)
		}
	}
}
